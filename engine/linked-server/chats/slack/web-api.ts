import { request } from 'undici';
import { z } from 'zod';
import { createOutgoing, describeUnreachable } from '../../../core/http/outgoing.ts';
import type { ProxySettings } from '../../../core/http/proxies.ts';
import { ChatSendError } from '../service.ts';
import { readProblem } from './problems.ts';

const PATIENCE_MS = 10_000;
const LARGEST_ANSWER_BYTES = 1024 ** 2;
/** The pause if Slack limits without naming one, ms. */
const USUAL_RETRY_AFTER_MS = 30_000;
const LONGEST_RETRY_AFTER_MS = 3_600_000;

type Argument = string | boolean | object;

/** One call of a method. */
export interface MethodCall<S extends z.ZodType> {
  token: string;
  arguments?: Readonly<Record<string, Argument>>;
  /** The required shape of the answer in addition to `ok`. */
  answer: S;
  patienceMs?: number;
}

/** Methods of Slack's Web API. Tokens are only sent to that address: redirects are not followed. */
export interface WebApi {
  /** Throws `ChatSendError`, in words that contain nothing of the answer. */
  call<S extends z.ZodType>(method: string, call: MethodCall<S>): Promise<z.output<S>>;
  /** Ends calls in progress. */
  close(): Promise<void>;
}

const envelope = z.looseObject({ ok: z.boolean(), error: z.string().optional() });

/** @param api the address before the names of methods */
export function createWebApi(api: string, proxies: ProxySettings): WebApi {
  const base = new URL(api.endsWith('/') ? api : `${api}/`);
  const limits = { connections: 4, keepAliveTimeout: 10_000, maxHeaderSize: 16 * 1024 };
  const agent = createOutgoing(base, proxies, limits);

  async function sendCall(method: string, token: string, body: string, patienceMs: number): Promise<unknown> {
    const timeout = AbortSignal.timeout(patienceMs);
    try {
      const answer = await request(new URL(method, base), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/x-www-form-urlencoded',
          'user-agent': 'svc',
        },
        body,
        dispatcher: agent,
        signal: timeout,
      });
      const retryAfterMs = readRetryAfter(answer.headers['retry-after']);
      if (answer.statusCode !== 200) {
        // Read to its end, so that the connection can be reused; a long one is cut off.
        void answer.body.dump().catch(() => undefined);
        if (answer.statusCode === 429) throw readProblem('ratelimited', retryAfterMs ?? USUAL_RETRY_AFTER_MS);
        throw new ChatSendError('later', `Slack answered with HTTP ${answer.statusCode}`, retryAfterMs);
      }
      const read = envelope.safeParse(parseJson(await readBodyText(answer.body)));
      if (!read.success) throw new ChatSendError('later', 'the answer did not come from Slack');
      if (read.data.ok) return read.data;
      const code = read.data.error ?? '';
      const isLimited = code === 'ratelimited' || code === 'rate_limited';
      throw readProblem(code, retryAfterMs ?? (isLimited ? USUAL_RETRY_AFTER_MS : null));
    } catch (error) {
      if (error instanceof ChatSendError) throw error;
      throw new ChatSendError(
        'later',
        timeout.aborted
          ? `Slack did not answer within ${patienceMs / 1000} s`
          : describeUnreachable('Slack', error),
      );
    }
  }

  return {
    async call(method, { token, arguments: given = {}, answer, patienceMs = PATIENCE_MS }) {
      const body = new URLSearchParams();
      for (const [name, value] of Object.entries(given))
        body.set(name, typeof value === 'string' ? value : JSON.stringify(value));
      const parsed = answer.safeParse(await sendCall(method, token, body.toString(), patienceMs));
      if (parsed.success) return parsed.data;
      throw new ChatSendError('later', 'the answer of Slack is not as documented');
    },
    close: () => agent.destroy(),
  };
}

async function readBodyText(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > LARGEST_ANSWER_BYTES) throw new ChatSendError('later', 'Slack answered with more than 1 MB');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const readRetryAfter = (value: string | string[] | undefined): number | null =>
  typeof value === 'string' && /^\d{1,6}$/.test(value)
    ? Math.min(LONGEST_RETRY_AFTER_MS, Math.max(1, Number(value)) * 1000)
    : null;
