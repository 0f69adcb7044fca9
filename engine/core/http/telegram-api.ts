import { Api, type ApiClientOptions, GrammyError, HttpError } from 'grammy/web';
import { type Dispatcher, fetch } from 'undici';
import { createOutgoing, describeUnreachable } from './outgoing.ts';
import type { ProxySettings } from './proxies.ts';

/** A longer answer is cut off. */
const LARGEST_ANSWER_BYTES = 1024 * 1024;

/** Limits the size of an answer, and follows no redirect: the address contains the token. */
async function fetchTelegram(
  url: string,
  init: NonNullable<Parameters<typeof fetch>[1]>,
  dispatcher: Dispatcher,
): Promise<Response> {
  const answer = await fetch(url, { ...init, redirect: 'error', dispatcher });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > LARGEST_ANSWER_BYTES) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status: answer.status });
}

/** Calls Telegram, and closes the connections to it. */
export function openTelegram(
  token: string,
  root: string,
  proxies: ProxySettings,
): { api: Api; close(): Promise<void> } {
  const dispatcher = createOutgoing(new URL(root), proxies, { keepAliveTimeout: 10_000 });
  const fetchHere = (url: string, init: NonNullable<Parameters<typeof fetch>[1]>) =>
    fetchTelegram(url, init, dispatcher);
  const api = new Api(token, {
    apiRoot: root.replace(/\/+$/, ''),
    // The types belong to another fetch; the used parts are the same.
    fetch: fetchHere as unknown as NonNullable<ApiClientOptions['fetch']>,
  });
  return { api, close: () => dispatcher.destroy() };
}

/** Descriptions of unreachable messages or chats. */
const GONE =
  /chat not found|user not found|user is deactivated|message to edit not found|message can't be edited|message_id_invalid|peer_id_invalid|upgraded to a supergroup|not enough rights|have no rights|chat_write_forbidden|need administrator rights/i;

/** Describes a failed call in svc's own words: Telegram's words appear in no log and on no page. */
export interface CallProblem {
  kind: 'token' | 'conflict' | 'webhook' | 'limit' | 'gone' | 'unchanged' | 'refused' | 'later' | 'own';
  message: string;
  retryAfterMs: number | null;
}

export function readProblem(thrown: unknown): CallProblem {
  const of = (
    kind: CallProblem['kind'],
    message: string,
    retryAfterMs: number | null = null,
  ): CallProblem => ({
    kind,
    message,
    retryAfterMs,
  });
  if (!(thrown instanceof GrammyError))
    return thrown instanceof HttpError
      ? of('later', describeUnreachable('Telegram', thrown.error))
      : of('own', 'svc itself failed; see its log');
  const { error_code: code, description, parameters } = thrown;
  if (code === 401 || code === 404) return of('token', 'Telegram rejects the token of the bot');
  if (code === 409)
    return /webhook/i.test(description)
      ? of('webhook', 'the bot has a webhook')
      : of('conflict', 'another program polls Telegram for the updates of this bot');
  if (code === 429)
    return of('limit', 'Telegram limits the rate of requests', (parameters.retry_after ?? 1) * 1000);
  if (code === 403) return of('gone', 'the bot is not allowed there');
  if (/message is not modified/i.test(description)) return of('unchanged', 'nothing changed');
  if (GONE.test(description)) return of('gone', 'the chat or the message no longer exists');
  return code >= 500
    ? of('later', `Telegram has failed (HTTP ${code})`)
    : of('refused', 'Telegram rejected the message');
}

/** How long any other request may take, ms; a poll that much longer than it is kept open. */
export const PATIENCE_MS = 8000;

export type TelegramCalls = ReturnType<typeof openTelegram>['api'];
type CallSignal = Parameters<TelegramCalls['getMe']>[0];

export type LimitCall = ReturnType<typeof createCallLimit>;

/** Returns a function that ends slow requests; with `isPoll` also when the bot is closed. */
export const createCallLimit =
  (closing: AbortSignal) =>
  (ms: number, isPoll = false): CallSignal =>
    (isPoll ? AbortSignal.any([closing, AbortSignal.timeout(ms)]) : AbortSignal.timeout(ms)) as CallSignal;
