import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { z } from 'zod';
import { asSvcError, isErrorCode, SvcError } from '../core/base/errors.ts';
import { toPrintable } from '../core/base/text.ts';
import { LARGEST_ANSWER_BYTES, LINK_PROTOCOL, PROTOCOL_HEADER } from '../core/link-protocol/messages.ts';

/** Delay before loading the client, so that the process that started the engine is answered first, ms. */
export const FIRST_CALL_MS = 150;
const PATIENCE_MS = 15_000;
/** Idle time after which a connection is closed, ms. */
const IDLE_MS = 30_000;
const LONGEST_RETRY_AFTER_MS = 3600_000;

/** One request to a linked server. */
export interface ServerRequest<S extends z.ZodType> {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Sent as JSON. */
  body?: unknown;
  /** The expected answer. */
  answer: S;
  signal?: AbortSignal;
  /** Timeout for an answer, ms. */
  patienceMs?: number;
}

/**
 * Calls to one linked server with one token: the only place that sends it. It only calls that origin and follows no
 * redirect; answers above 64 KB are cut off.
 */
export interface ServerCalls {
  /**
   * Throws `revoked`, `displaced`, `protocol_mismatch`, `fields_invalid`, `body_too_large`, `not_found` and
   * `quota_exceeded` as the server reports them, otherwise `server_unreachable`; `data.retry_after_ms` if the server
   * has named a time.
   */
  call<S extends z.ZodType>(path: string, request: ServerRequest<S>): Promise<z.output<S>>;
  /** Stops all calls: the token may soon belong to another server. */
  close(): Promise<void>;
}

/** The valid refusals of a server; anything else means that it is not an svc server. */
const REFUSALS = [
  'revoked',
  'displaced',
  'protocol_mismatch',
  'fields_invalid',
  'body_too_large',
  'not_found',
  'quota_exceeded',
] as const;

const problem = z.looseObject({ code: z.string(), detail: z.string().optional() });

/** An answer without a body. */
export const nothing = z.unknown();

interface RawRequest {
  method?: string;
  headers: Record<string, string>;
  body?: string;
}

interface RawAnswer {
  status: number;
  text: string;
  retryAfterMs: number | null;
}

interface Waiting {
  signal?: AbortSignal;
  patienceMs?: number;
}

/** Loads node:http, which also loads the client behind fetch: 34 ms of CPU that most engines never need. */
const loadHttp = () => process.getBuiltinModule('node:http');

/** Returns the connections to the server of `url`, at most three. Throws `config_invalid`. */
async function openAgent(url: URL): Promise<Agent> {
  const options = { keepAlive: true, maxSockets: 3, timeout: IDLE_MS };
  if (url.protocol === 'http:') return new (loadHttp().Agent)(options);
  // An engine that is not linked never needs it.
  const { openSecureAgent } = await import('./secure-agent.ts');
  return openSecureAgent(url, options);
}

/**
 * Sends one request on a separate connection, and reads at most 64 KB of its answer. Throws `server_unreachable`,
 * `config_invalid`.
 */
export async function sendToServer(url: URL, request: RawRequest, waiting: Waiting = {}): Promise<RawAnswer> {
  const agent = await openAgent(url);
  try {
    return await sendThrough(agent, url, request, waiting);
  } finally {
    agent.destroy();
  }
}

async function sendThrough(
  agent: Agent,
  url: URL,
  sending: RawRequest,
  { signal, patienceMs = PATIENCE_MS }: Waiting,
): Promise<RawAnswer> {
  signal?.throwIfAborted();
  // Not AbortSignal.any: a signal that lives as long as the engine would accumulate dependents.
  const ending = new AbortController();
  const endCall = (): void => ending.abort();
  const timer = setTimeout(endCall, patienceMs);
  signal?.addEventListener('abort', endCall);
  try {
    return await exchange(url, sending, { agent, signal: ending.signal, timeout: patienceMs });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SvcError) throw error;
    const why = ending.signal.aborted
      ? `no answer within ${patienceMs / 1000} s`
      : describeFault(error as NodeJS.ErrnoException);
    throw new SvcError('server_unreachable', `${url.origin}: ${why}`, { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', endCall);
  }
}

async function exchange(
  url: URL,
  { method = 'GET', headers, body }: RawRequest,
  connection: { agent: Agent; signal: AbortSignal; timeout: number },
): Promise<RawAnswer> {
  // Compressed data could unpack beyond the limit.
  const sent = loadHttp().request(url, {
    ...connection,
    method,
    headers: { ...headers, 'accept-encoding': 'identity' },
  });
  try {
    sent.end(body);
    const answer = await waitForAnswer(sent, connection.signal);
    const status = answer.statusCode ?? 0;
    if (status >= 300 && status < 400)
      throw new SvcError('server_unreachable', `${url.origin} redirects, and redirects are not followed`);
    const retryAfterMs = parseRetryAfter(answer.headers['retry-after']);
    return { status, text: await readAnswerText(url, answer), retryAfterMs };
  } catch (error) {
    // The rest of an answer would keep its connection.
    sent.destroy();
    throw error;
  }
}

const waitForAnswer = (sent: ClientRequest, ending: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    sent.on('response', resolve).on('error', reject);
    // Without an error, as after an answer in another protocol.
    sent.on('close', () => reject(new Error('the connection was closed')));
    // A connection that ends before its tunnel is established reports nothing.
    ending.addEventListener('abort', reject);
  });

const describeFault = ({ code, message }: NodeJS.ErrnoException): string =>
  code === 'ERR_PROXY_TUNNEL'
    ? 'the proxy of HTTPS_PROXY or HTTP_PROXY refuses the connection'
    : (code ?? message);

async function readAnswerText(url: URL, answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > LARGEST_ANSWER_BYTES)
      throw new SvcError('server_unreachable', `${url.origin} answered with more than 64 KB`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

const parseRetryAfter = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,6}$/.test(text) ? Math.min(LONGEST_RETRY_AFTER_MS, Number(text) * 1000) : null;

/** Returns an answer as JSON; undefined if it is not JSON. */
export function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function createServerCalls({
  server,
  token,
}: {
  server: URL;
  /** Returns the token, which is read at every call because it is replaced every 90 days. */
  token(): string;
}): ServerCalls {
  let agent: Promise<Agent> | null = null;
  let isClosed = false;

  return {
    async call(path, { method = 'GET', body, answer, signal, patienceMs }) {
      agent ??= openAgent(server);
      const opened = await agent;
      if (isClosed) throw new SvcError('server_unreachable', `${server.origin}: this link has ended`);
      const found = await sendThrough(
        opened,
        new URL(path, server),
        {
          method,
          headers: {
            accept: 'application/json',
            authorization: `Bearer ${token()}`,
            [PROTOCOL_HEADER]: String(LINK_PROTOCOL),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        },
        {
          ...(signal === undefined ? {} : { signal }),
          ...(patienceMs === undefined ? {} : { patienceMs }),
        },
      );
      const read = parseAnswer(found.text);
      if (found.status < 200 || found.status > 299) throw toRefusal(server, found, read);
      const parsed = answer.safeParse(read);
      if (parsed.success) return parsed.data;
      throw new SvcError('server_unreachable', `${server.origin} does not answer like an svc server`);
    },
    async close() {
      isClosed = true;
      const opened = await agent?.catch(() => null);
      opened?.destroy();
    },
  };
}

function toRefusal(server: URL, { status, retryAfterMs }: RawAnswer, read: unknown): SvcError {
  const said = problem.safeParse(read);
  const code = said.success ? said.data.code : '';
  const detail = said.success ? toPrintable(said.data.detail ?? code).slice(0, 300) : '';
  const text = `${server.origin}: ${detail === '' ? `HTTP ${status}` : detail}`;
  const data = retryAfterMs === null ? {} : { retry_after_ms: retryAfterMs };
  if (status === 401 && code === 'token_invalid') return new SvcError('revoked', text, { data });
  const refusal = REFUSALS.find((each) => each === code && isErrorCode(code));
  return new SvcError(refusal ?? 'server_unreachable', text, { data });
}

/** Reports whether the server will never accept a message. It must not block later ones. */
export const isRefused = (thrown: unknown): boolean =>
  ['fields_invalid', 'body_too_large'].includes(asSvcError(thrown).code);
