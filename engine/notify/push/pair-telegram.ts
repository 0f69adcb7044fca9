import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { SvcError } from '../../core/base/errors.ts';
import { toPrintable } from '../../core/base/text.ts';
import type { ProxySettings } from '../../core/http/proxies.ts';
import { createCallLimit, openTelegram, PATIENCE_MS, readProblem } from '../../core/http/telegram-api.ts';

/** How long Telegram keeps a request for updates open, s. */
const POLL_S = 25;
const PAUSE_MS = 1000;
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const CODE_LENGTH = 10;

/** A chat that a person has named with a code. */
export interface PairedChat {
  /** Its id, as `notify.push` wants it. */
  chat: string;
  /** Its name, from outside; printable. */
  name: string;
}

const makeCode = (): string =>
  Array.from({ length: CODE_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');

/**
 * Waits until someone sends a one-time code to the bot, and returns the chat from which it came. Rejects with
 * `token_invalid`, with `conflict` if another program receives what people send to the bot, and with `cancelled` on abort.
 */
export async function pairTelegram({
  token,
  url,
  proxies,
  signal,
  onReady,
}: {
  token: string;
  url: string;
  proxies: ProxySettings;
  signal: AbortSignal;
  /** Called with what the person has to send, and to whom. */
  onReady(bot: string, code: string): void;
}): Promise<PairedChat> {
  const { api, close } = openTelegram(token, url, proxies);
  const limitCall = createCallLimit(signal);
  const code = makeCode();

  /** Repeats a call while Telegram cannot be reached, and ends for what a person has to change. */
  async function insist<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (thrown) {
        if (signal.aborted) throw new SvcError('cancelled', 'pairing was stopped');
        const { kind, message, retryAfterMs } = readProblem(thrown);
        if (kind === 'token') throw new SvcError('token_invalid', message);
        if (kind === 'webhook' || kind === 'conflict')
          throw new SvcError('conflict', message, { hint: 'create a bot for svc alone, with @BotFather' });
        if (kind !== 'later' && kind !== 'limit') throw new SvcError('answer_invalid', message);
        await delay(retryAfterMs ?? PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  try {
    const { username } = await insist(() => api.getMe(limitCall(PATIENCE_MS, true)));
    onReady(username, code);
    let offset = 0;
    for (;;) {
      const updates = await insist(() =>
        api.getUpdates(
          { timeout: POLL_S, offset, allowed_updates: ['message'] },
          limitCall(POLL_S * 1000 + PATIENCE_MS, true),
        ),
      );
      for (const { update_id, message } of updates) {
        offset = update_id + 1;
        if (message?.text === undefined || !message.text.toUpperCase().split(/\s+/).includes(code)) continue;
        const { chat } = message;
        // Telegram then forgets the code as well.
        await insist(() => api.getUpdates({ timeout: 0, offset }, limitCall(PATIENCE_MS, true)));
        const confirmed = 'This chat is paired: its messages come from here.';
        await api.sendMessage(chat.id, confirmed, {}, limitCall(PATIENCE_MS, true)).catch(() => undefined);
        const { first_name = '', last_name = '' } = message.from ?? {};
        const name = chat.title ?? `${first_name} ${last_name}`;
        return { chat: String(chat.id), name: toPrintable(name.toWellFormed()).trim() };
      }
    }
  } finally {
    await close();
  }
}
