import type { EnvHttpProxyAgent } from 'undici';
import { z } from 'zod';
import { isErrorCode, SvcError } from '../base/errors.ts';
import { toPrintable } from '../base/text.ts';
import { LARGEST_ANSWER_BYTES, LINK_PROTOCOL, PROTOCOL_HEADER } from '../http/link-protocol.ts';

const PATIENCE_MS = 15_000;
const LONGEST_RETRY_AFTER_MS = 3600_000;

/** One request to a linked server. */
export interface ServerRequest<S extends z.ZodType> {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Sent as JSON. */
  body?: unknown;
  /** What the answer has to be. */
  answer: S;
  signal?: AbortSignal;
  /** How long an answer is waited for, ms. */
  patienceMs?: number;
}

/**
 * Calls to one linked server with one token: the only place that sends it. It goes to that origin alone and follows no
 * redirect; longer answers than 64 KB are cut off.
 */
export interface ServerCalls {
  /**
   * Throws `revoked`, `displaced`, `protocol_mismatch`, `fields_invalid`, `body_too_large`, `not_found` and `quota_exceeded` as the
   * server says, else `server_unreachable`; `data.retry_after_ms` where the server has said when to come back.
   */
  call<S extends z.ZodType>(path: string, request: ServerRequest<S>): Promise<z.output<S>>;
  close(): Promise<void>;
}

/** What a server may say no with; everything else is a server that does not answer as one. */
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

interface RawAnswer {
  status: number;
  text: string;
  retryAfterMs: number | null;
}

/** Sends one request and reads at most 64 KB of its answer. Throws `server_unreachable`. */
export async function sendToServer(
  url: URL,
  init: { method?: string; headers?: Record<string, string>; body?: string | URLSearchParams },
  {
    agent,
    signal,
    patienceMs = PATIENCE_MS,
  }: { agent?: EnvHttpProxyAgent; signal?: AbortSignal; patienceMs?: number } = {},
): Promise<RawAnswer> {
  // Loaded with the first request: an engine that is not linked never needs it.
  const { EnvHttpProxyAgent: Agent, fetch } = await import('undici');
  const dispatcher = agent ?? new Agent();
  // Not AbortSignal.any: a signal that lives as long as the engine would gather dependents.
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const timer = setTimeout(end, patienceMs);
  signal?.addEventListener('abort', end);
  if (signal?.aborted) end();
  try {
    const response = await fetch(url, { ...init, dispatcher, redirect: 'error', signal: ending.signal });
    const text = await readText(url, response.body);
    return {
      status: response.status,
      text,
      retryAfterMs: parseRetryAfter(response.headers.get('retry-after')),
    };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SvcError) throw error;
    const cause = (error as Error).cause as NodeJS.ErrnoException | undefined;
    const why = ending.signal.aborted
      ? `no answer within ${patienceMs / 1000} s`
      : (cause?.code ?? cause?.message ?? (error as Error).message);
    throw new SvcError('server_unreachable', `${url.origin}: ${why}`, { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
    if (agent === undefined) await dispatcher.destroy();
  }
}

async function readText(url: URL, body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > LARGEST_ANSWER_BYTES)
      throw new SvcError('server_unreachable', `${url.origin} answered with more than 64 KB`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

const parseRetryAfter = (text: string | null): number | null =>
  text !== null && /^\d{1,6}$/.test(text) ? Math.min(LONGEST_RETRY_AFTER_MS, Number(text) * 1000) : null;

/** An answer as JSON; undefined when it is none. */
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
  /** Read at every call, since it is replaced every 90 days. */
  token(): string;
}): ServerCalls {
  let agent: EnvHttpProxyAgent | null = null;

  return {
    async call(path, { method = 'GET', body, answer, signal, patienceMs }) {
      if (agent === null) {
        const { EnvHttpProxyAgent: Agent } = await import('undici');
        agent ??= new Agent({ connections: 3, keepAliveTimeout: 30_000 });
      }
      const found = await sendToServer(
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
          agent,
          ...(signal === undefined ? {} : { signal }),
          ...(patienceMs === undefined ? {} : { patienceMs }),
        },
      );
      const read = parseAnswer(found.text);
      if (found.status < 200 || found.status > 299) throw toRefusal(server, found, read);
      const parsed = answer.safeParse(read);
      if (parsed.success) return parsed.data;
      throw new SvcError('server_unreachable', `${server.origin} does not answer as a server of svc does`);
    },
    async close() {
      await agent?.destroy();
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
