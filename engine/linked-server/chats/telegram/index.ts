import { createHash, timingSafeEqual } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../../../core/base/backoff.ts';
import type { Clock } from '../../../core/base/clock.ts';
import { asSvcError } from '../../../core/base/errors.ts';
import type { Log } from '../../../core/base/log.ts';
import type { ProxySettings } from '../../../core/http/proxies.ts';
import type { BotSettings } from '../bot-settings.ts';
import type {
  ChatAnswer,
  ChatHandlers,
  ChatMemory,
  ChatMessage,
  ChatRequest,
  ChatService,
  ChatStatus,
} from '../service.ts';
import { openTelegram, readProblem, toSendError } from './calls.ts';
import { cutAnswer, renderAnswer, renderButtons, renderText } from './render.ts';
import { readUpdate, readUpdateId } from './updates.ts';

/** How long Telegram keeps a request for updates open, s. */
const POLL_S = 25;
/** How long any other request may take, ms; a poll that much longer than it is kept open. */
const PATIENCE_MS = 8000;
const UPDATES = ['message', 'callback_query'] as const;
const MOST_UPDATES = 50;
/** Telegram restarts its numbering after a week without activity: an older saved position is meaningless. */
const PLACE_KEPT_MS = 6 * 24 * 3600_000;
const OFFSET = 'offset';
const BACKOFF = { firstMs: 1000, longestMs: 60_000, shortestMs: 500, random: Math.random };
/** An update that fails this often is skipped. */
const MOST_TRIES = 5;

/** The bot's position in Telegram's updates. */
interface Place {
  next: number;
  at: number;
}

/** A Telegram bot that polls for updates, or receives them at a secret path with a secret that Telegram sends. */
export function createTelegram(
  settings: BotSettings['telegram'],
  {
    handlers,
    memory,
    clock,
    log,
    api: root,
    proxies,
    origin,
  }: {
    handlers: ChatHandlers;
    memory: ChatMemory;
    clock: Clock;
    log: Log;
    /** The address of Telegram's Bot API. */
    api: string;
    proxies: ProxySettings;
    /** How Telegram reaches this server. */
    origin: string;
  },
): ChatService {
  const { webhook } = settings;
  const closing = new AbortController();
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

  /** Ends slow requests; with `isPoll` also when the bot is closed. */
  const limitCall = (ms: number, isPoll = false) =>
    (isPoll
      ? AbortSignal.any([closing.signal, AbortSignal.timeout(ms)])
      : AbortSignal.timeout(ms)) as Parameters<typeof api.getMe>[0];

  /** Makes the bot ready to receive. */
  async function prepare(): Promise<void> {
    ({ username: botName } = await api.getMe(limitCall(PATIENCE_MS, true)));
    if (webhook === null) {
      await api.deleteWebhook({ drop_pending_updates: false }, limitCall(PATIENCE_MS, true));
      return;
    }
    const address = `${origin}/chats/telegram/${webhook.path}`;
    const options = { secret_token: webhook.secret, allowed_updates: UPDATES };
    await api.setWebhook(address, options, limitCall(PATIENCE_MS, true));
  }

  /** Answers one person; a lost answer changes nothing. */
  async function tryToSend(what: string, sending: () => Promise<unknown>): Promise<void> {
    try {
      await sending();
    } catch (thrown) {
      log.info({ bot: 'telegram', problem: readProblem(thrown).message }, what);
    }
  }

  async function handle(given: unknown): Promise<void> {
    const found = readUpdate(given, botName);
    if (found === null || found.act.what === 'nothing') return;
    const { act } = found;
    if (act.what === 'press') {
      const said = await handlers.onPress(act.press);
      // Sent even without text, so that the button stops showing progress.
      const answer = said === null ? {} : { text: cutAnswer(said), show_alert: true };
      await tryToSend('a press was not answered', () =>
        api.answerCallbackQuery(act.queryId, answer, limitCall(PATIENCE_MS)),
      );
      return;
    }
    const said = await handlers.onWords(act.words);
    if (said === null) return;
    const { text, entities } = renderAnswer(said);
    // Messages in a group are also answered in private.
    const other = { entities, link_preview_options: { is_disabled: true } };
    await tryToSend('a text message was not answered', () =>
      api.sendMessage(act.words.user.id, text, other, limitCall(PATIENCE_MS)),
    );
  }

  async function readPlace(): Promise<number | null> {
    const kept = await memory.read(OFFSET);
    if (kept === null) return null;
    const { next, at } = JSON.parse(kept) as Place;
    return clock.now() - at > PLACE_KEPT_MS ? null : next;
  }

  /** Reports whether the database answers: without it, failures are not the update's fault. */
  const canRemember = (): Promise<boolean> =>
    memory.read(OFFSET).then(
      () => true,
      () => false,
    );

  const tries = new Map<number, number>();
  /** Already handled, after one that has to be retried. */
  const done = new Set<number>();
  /** Handles an update; false if it has to be retried. */
  async function attempt(given: unknown): Promise<boolean> {
    const id = readUpdateId(given) ?? 0;
    if (done.has(id)) return true;
    try {
      await handle(given);
    } catch (thrown) {
      const count = (tries.get(id) ?? 0) + 1;
      tries.set(id, count);
      log.error({ bot: 'telegram', update: id, error: asSvcError(thrown).message }, 'an update failed here');
      if (count < MOST_TRIES || !(await canRemember())) return false;
    }
    tries.delete(id);
    return true;
  }

  /** Polls for updates, handles them, and only then records them as done. */
  async function poll(): Promise<void> {
    const offset = await readPlace();
    const wish = { timeout: POLL_S, limit: MOST_UPDATES, allowed_updates: UPDATES };
    const updates = await api.getUpdates(
      { ...wish, ...(offset === null ? {} : { offset }) },
      limitCall(POLL_S * 1000 + PATIENCE_MS, true),
    );
    setStatus('open', null);
    if (updates.length === 0) return;
    const results = await Promise.all(updates.map(attempt));
    const firstLeft = results.indexOf(false);
    done.clear();
    if (firstLeft >= 0)
      for (const [at, { update_id }] of updates.entries()) if (results[at] === true) done.add(update_id);
    const last = updates[firstLeft < 0 ? updates.length - 1 : firstLeft - 1];
    if (last !== undefined)
      await memory.write(
        OFFSET,
        JSON.stringify({ next: last.update_id + 1, at: clock.now() } satisfies Place),
      );
    if (firstLeft >= 0) await delay(BACKOFF.firstMs, undefined, { signal: closing.signal });
  }

  async function runBot(): Promise<void> {
    let failures = 0;
    let isReady = false;
    while (!closing.signal.aborted) {
      try {
        if (!isReady) {
          await prepare();
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

  /** Calls Telegram about a message. Throws `ChatSendError`. */
  async function sendOrFail<T>(call: () => Promise<T>): Promise<T | null> {
    try {
      return await call();
    } catch (thrown) {
      const problem = readProblem(thrown);
      if (problem.kind === 'unchanged') return null;
      if (problem.kind === 'token' && !closing.signal.aborted) setStatus('failing', problem.message);
      throw toSendError(problem);
    }
  }

  const render = ({ lines, buttons }: ChatMessage) => {
    const { text, entities } = renderText(lines);
    return {
      text,
      other: {
        entities,
        link_preview_options: { is_disabled: true },
        reply_markup: { inline_keyboard: renderButtons(buttons) },
      },
    };
  };

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
    async send(channel, message) {
      const { text, other } = render(message);
      const sent = await sendOrFail(() => api.sendMessage(channel, text, other, limitCall(PATIENCE_MS)));
      return String(sent?.message_id);
    },
    async edit(channel, messageId, message) {
      const { text, other } = render(message);
      await sendOrFail(() =>
        api.editMessageText(channel, Number(messageId), text, other, limitCall(PATIENCE_MS)),
      );
    },
    async receive({ path, headers, body }: ChatRequest): Promise<ChatAnswer> {
      if (webhook === null || !isSameSecret(path, webhook.path)) return { status: 404 };
      if (!isSameSecret(headers['x-telegram-bot-api-secret-token'] ?? '', webhook.secret))
        return { status: 401 };
      let given: unknown;
      try {
        given = JSON.parse(body.toString('utf8'));
      } catch {
        return { status: 400 };
      }
      // Failed updates are sent again.
      return (await attempt(given)) ? { status: 200 } : { status: 500 };
    },
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

const hashSecret = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares in constant time. */
const isSameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(hashSecret(one), hashSecret(other));
