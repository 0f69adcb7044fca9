import type { Clock } from '../../../core/base/clock.ts';
import type { Log } from '../../../core/base/log.ts';
import { settleWithin } from '../../../core/base/settle-within.ts';
import type { ProxySettings } from '../../../core/http/proxies.ts';
import { type ChatHandlers, type ChatMemory, ChatSendError, type ChatService } from '../service.ts';
import { createSlackCalls } from './calls.ts';
import { formatMessage } from './format-message.ts';
import { createIdentityCheck } from './identity.ts';
import { createIncomingPayloads } from './incoming.ts';
import { type SlackPace, USUAL_PACE } from './pace.ts';
import { createSignedRequests } from './signed-requests.ts';
import { createSocketMode } from './socket-mode.ts';
import { createStatus } from './status.ts';
import { createWebApi } from './web-api.ts';

/** The path behind `/chats/slack/` for events and buttons. */
const REQUEST_PATH = 'events';
/** Time limit for requests in progress when it is closed, ms. */
const CLOSING_MS = 5000;

/** The operator's settings. */
export interface SlackSettings {
  /** `xoxb-…` */
  botToken: string;
  /** `xapp-…`: with it, Socket Mode is used and this server need not be reachable. */
  appToken: string | null;
  /** With it, and without an app token, Slack sends requests to this server. */
  signingSecret: string | null;
  /** Null for the workspace of the bot token. */
  teamId: string | null;
  /** Null for the app of the app token; required for signed requests. */
  appId: string | null;
}

export interface SlackDeps {
  handlers: ChatHandlers;
  memory: ChatMemory;
  clock: Clock;
  log: Log;
  /** The address of Slack's Web API. */
  api: string;
  proxies: ProxySettings;
  pace?: Partial<SlackPace>;
}

/** A bot in a Slack workspace: sends by the Web API, receives by Socket Mode or by signed requests. */
export function createSlack(settings: SlackSettings, deps: SlackDeps): ChatService {
  const { botToken, appToken, signingSecret } = settings;
  const { handlers, clock, log } = deps;
  const pace = { ...USUAL_PACE, ...deps.pace };
  const api = createWebApi(deps.api, deps.proxies);
  const ending = new AbortController();
  let { appId } = settings;
  let running: Promise<void> = Promise.resolve();

  const status = createStatus({ clock, log, botName: () => identity.current()?.botName ?? null });
  const identity = createIdentityCheck({
    api,
    botToken,
    teamId: settings.teamId,
    pace,
    signal: ending.signal,
    onProblem: status.setTokenProblem,
  });

  const { sendText, findName, answerUser } = createSlackCalls({ api, botToken, status, identity });
  const incoming = createIncomingPayloads({
    handlers,
    log,
    ours() {
      const who = identity.current();
      return who === null || appId === null ? null : { ...who, appId };
    },
    findName,
    answer: answerUser,
  });

  const sockets =
    appToken === null
      ? null
      : createSocketMode({
          ...deps,
          api,
          appToken,
          incoming,
          pace,
          mayBePlain: new URL(deps.api).protocol === 'http:',
          onGreeted(greeter) {
            appId = greeter ?? settings.appId;
            checkAppId(settings.appId, appId);
            status.setReceiving(null);
          },
          onFailing: ({ message }) => status.setReceiving(message),
        });

  const requests =
    sockets !== null || signingSecret === null
      ? null
      : createSignedRequests({
          ...deps,
          signingSecret,
          incoming,
          isReady: () => identity.current() !== null && appId !== null,
          acknowledgeMs: pace.acknowledgeMs,
        });

  async function openSlack(): Promise<void> {
    await identity.check();
    if (ending.signal.aborted) return;
    if (sockets !== null) sockets.start();
    else status.setReceiving(describeMissing(requests !== null, appId));
  }

  async function closeSlack(): Promise<void> {
    ending.abort();
    await settleWithin(CLOSING_MS, incoming.settled());
    await sockets?.close();
    await api.close();
    await running;
    status.close();
  }

  return {
    kind: 'slack',
    start() {
      running = openSlack();
    },
    status: status.current,
    send: (channel, message) => sendText('chat.postMessage', { channel }, formatMessage(message)),
    async edit(channel, messageId, message) {
      await sendText('chat.update', { channel, ts: messageId }, formatMessage(message));
    },
    async receive(request) {
      if (requests === null || request.path !== REQUEST_PATH)
        return { status: 404, body: 'nothing is received here' };
      if (ending.signal.aborted) return { status: 503, body: 'this server is closing' };
      return requests.receive(request);
    },
    close: closeSlack,
    // Slack keeps connections while they are open, and the request URL is set on its own pages.
    remove: closeSlack,
  };
}

/** Throws `ChatSendError` if the id of the bot's app is not known, or is not the configured one. */
function checkAppId(configured: string | null, appId: string | null): void {
  if (appId === null) throw new ChatSendError('refused', 'the id of the Slack app is not known');
  if (configured !== null && appId !== configured)
    throw new ChatSendError(
      'refused',
      'the app token belongs to a different Slack app than the configured one',
    );
}

/** Returns why a bot without an app token receives nothing; null if it does. */
function describeMissing(hasSigningSecret: boolean, appId: string | null): string | null {
  if (!hasSigningSecret) return 'it has neither an app token nor a signing secret, so buttons do nothing';
  return appId === null ? 'the id of the Slack app is not set, so buttons do nothing' : null;
}
