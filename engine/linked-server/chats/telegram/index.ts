import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../../../core/base/backoff.ts';
import type { Clock } from '../../../core/base/clock.ts';
import { asSvcError } from '../../../core/base/errors.ts';
import type { Log } from '../../../core/base/log.ts';
import type { ProxySettings } from '../../../core/http/proxies.ts';
import { createCallLimit, openTelegram, PATIENCE_MS, readProblem } from '../../../core/http/telegram-api.ts';
import type { BotSettings } from '../bot-settings.ts';
import type { ChatHandlers, ChatMemory, ChatService, ChatStatus } from '../service.ts';
import { createUpdateHandler } from './handle-updates.ts';
import { createUpdatePoll } from './poll-updates.ts';
import { prepareBot } from './prepare-bot.ts';
import { createWebhookReceiver } from './receive-updates.ts';
import { createSending } from './sending.ts';

const BACKOFF = { firstMs: 1000, longestMs: 60_000, shortestMs: 500, random: Math.random };
export interface TelegramDeps {
  handlers: ChatHandlers;
  memory: ChatMemory;
  clock: Clock;
  log: Log;
  /** The address of Telegram's Bot API. */
  api: string;
  proxies: ProxySettings;
  /** How Telegram reaches this server. */
  origin: string;
}

/** A Telegram bot that polls for updates, or receives them at a secret path with a secret that Telegram sends. */
export function createTelegram(
  settings: BotSettings['telegram'],
  { handlers, memory, clock, log, api: root, proxies, origin }: TelegramDeps,
): ChatService {
  const { webhook } = settings;
  const closing = new AbortController();
  const limitCall = createCallLimit(closing.signal);
  const { api, close: closeConnections } = openTelegram(settings.token, root, proxies);
  let running: Promise<void> = Promise.resolve();
  let botName: string | null = null;
  let status: ChatStatus = { state: 'starting', since: clock.now(), problem: null, botName: null };

  function setStatus(state: ChatStatus['state'], problem: string | null): void {
    if (status.state === state && status.problem === problem && status.botName === botName) return;
    const since = status.state === state ? status.since : clock.now();
    status = { state, since, problem, botName: botName === null ? null : `@${botName}` };
    if (problem !== null) log.warn({ bot: 'telegram', problem }, 'the bot does not work');
  }

  const updates = createUpdateHandler({ api, handlers, memory, log, limitCall, botName: () => botName });
  const poll = createUpdatePoll({
    api,
    memory,
    clock,
    limitCall,
    updates,
    onAnswered: () => setStatus('open', null),
    signal: closing.signal,
  });
  const { sendOrFail, send, edit } = createSending({
    api,
    limitCall,
    onRefused(problem) {
      if (!closing.signal.aborted) setStatus('failing', problem);
    },
  });

  const onNamed = (name: string): void => {
    botName = name;
  };

  async function runBot(): Promise<void> {
    let failures = 0;
    let isReady = false;
    while (!closing.signal.aborted) {
      try {
        if (!isReady) {
          await prepareBot(api, { webhook, origin, limitCall, onNamed });
          setStatus('open', null);
        }
        isReady = true;
        if (webhook !== null) return;
        await poll();
        failures = 0;
      } catch (thrown) {
        if (closing.signal.aborted) return;
        const { kind, message, retryAfterMs } = readProblem(thrown);
        failures += 1;
        if (kind === 'own')
          log.error({ bot: 'telegram', error: asSvcError(thrown).message }, 'the bot failed here');
        if (kind === 'webhook') isReady = false;
        else setStatus('failing', message);
        await delay(retryAfterMs ?? backoffMs(failures, BACKOFF), undefined, { signal: closing.signal });
      }
    }
  }

  async function stopBot(): Promise<void> {
    closing.abort();
    await running;
    setStatus('closed', null);
  }

  return {
    kind: 'telegram',
    start() {
      running = runBot().catch((thrown: unknown) => {
        if (closing.signal.aborted) return;
        setStatus('failing', 'it stopped; see the log');
        log.error({ bot: 'telegram', error: asSvcError(thrown).message }, 'the bot stopped');
      });
    },
    status: () => status,
    send,
    edit,
    receive: createWebhookReceiver(webhook, updates),
    async close() {
      await stopBot();
      await closeConnections();
    },
    async remove() {
      await stopBot();
      try {
        if (webhook !== null) await sendOrFail(() => api.deleteWebhook({}, limitCall(PATIENCE_MS)));
      } finally {
        await closeConnections();
      }
    },
  };
}
