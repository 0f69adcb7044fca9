import type { ProxySettings } from '../../core/http/proxies.ts';
import { openTelegram, readProblem, type TelegramCalls } from '../../core/http/telegram-api.ts';
import { renderText } from '../../core/http/telegram-text.ts';
import type { SendOutcome } from '../sending/attempt.ts';
import type { PushMessage } from './compose-message.ts';

const TRY_MS = 10_000;

/** Sends a message to a chat. Null when `signal` aborted it, since the outcome is then unknown. */
export async function sendTelegram(
  { url, token, chat }: { url: string; token: string; chat: string },
  { heading, lines, link }: PushMessage,
  { proxies, signal }: { proxies: ProxySettings; signal: AbortSignal },
): Promise<SendOutcome | null> {
  const { text, entities } = renderText([
    [{ text: heading, isOutside: false }],
    ...lines,
    ...(link === null ? [] : [[{ text: link, isOutside: false }]]),
  ]);
  const telegram = openTelegram(token, url, proxies);
  // Not AbortSignal.any: `signal` lives as long as the engine and would accumulate dependents.
  const ending = new AbortController();
  const endAttempt = () => ending.abort();
  const timer = setTimeout(endAttempt, TRY_MS);
  signal.addEventListener('abort', endAttempt);
  try {
    await telegram.api.sendMessage(
      chat,
      text,
      { entities, link_preview_options: { is_disabled: true } },
      ending.signal as Parameters<TelegramCalls['getMe']>[0],
    );
    return { ok: true, gone: false, status: 200, error: null, retryAfterMs: null };
  } catch (thrown) {
    if (signal.aborted) return null;
    const { message, retryAfterMs } = readProblem(thrown);
    const error = ending.signal.aborted ? `no answer within ${TRY_MS / 1000} s` : message;
    return { ok: false, gone: false, status: null, error, retryAfterMs };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', endAttempt);
    await telegram.close();
  }
}
