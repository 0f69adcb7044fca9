import type { Clock } from '../../../core/base/clock.ts';
import type { Log } from '../../../core/base/log.ts';
import { settleWithin } from '../../../core/base/settle-within.ts';
import { checkTime, createVerifier, SCHEMES, SKEW_MS } from '../../../core/http/signature.ts';
import type { ChatAnswer, ChatMemory, ChatRequest } from '../service.ts';
import type { IncomingPayloads, PayloadResult } from './incoming.ts';

const HEADERS = ['x-slack-request-timestamp', 'x-slack-signature'] as const;
const LARGEST_CHALLENGE = 1000;

const TAKEN: Readonly<Record<PayloadResult, ChatAnswer>> = {
  taken: { status: 200, body: '' },
  foreign: { status: 403, body: 'not the app or the workspace that this server serves' },
  malformed: { status: 400, body: 'not a payload of Slack' },
};
const UNSIGNED: ChatAnswer = { status: 401, body: 'the signature or its time is missing or wrong' };
const REPLAYED: ChatAnswer = { status: 409, body: 'this request was already received' };
const NOT_READY: ChatAnswer = { status: 503, body: 'not ready yet' };
const NOT_RECORDED: ChatAnswer = { status: 500, body: 'not recorded' };

/** Receives Slack's requests to this server. */
export interface SignedRequests {
  receive(request: ChatRequest): Promise<ChatAnswer>;
}

/** Reads the JSON of a body: for a button, a field of a form. Undefined if it is neither. */
function readBody({ headers, body }: ChatRequest): unknown {
  const type = headers['content-type'] ?? '';
  try {
    const text = body.toString('utf8');
    if (/^application\/json\b/i.test(type)) return JSON.parse(text);
    const payloads = new URLSearchParams(text).getAll('payload');
    return payloads.length === 1 ? JSON.parse(payloads[0] ?? '') : undefined;
  } catch {
    return undefined;
  }
}

/** Returns Slack's challenge when the URL is set; null for everything else. */
function readChallenge(payload: unknown): string | null {
  const { type, challenge } = (payload ?? {}) as { type?: unknown; challenge?: unknown };
  if (type !== 'url_verification' || typeof challenge !== 'string') return null;
  return challenge.length <= LARGEST_CHALLENGE ? challenge : null;
}

export function createSignedRequests({
  signingSecret,
  incoming,
  isReady,
  memory,
  acknowledgeMs,
  clock,
  log,
}: {
  signingSecret: string;
  incoming: IncomingPayloads;
  /** True if the app and its Slack workspace are known. */
  isReady(): boolean;
  memory: ChatMemory;
  /** The deadline for answering a request, even if it is not recorded yet. */
  acknowledgeMs: number;
  clock: Clock;
  log: Log;
}): SignedRequests {
  const verify = createVerifier([signingSecret]);
  /** Verified requests in progress, by their signatures. */
  const underWay = new Map<string, Promise<ChatAnswer>>();

  /** Returns the signature in hex; null if it is missing, wrong, or older than five minutes. */
  function checkSignature({ headers, body }: ChatRequest): string | null {
    // Only Slack's own names: another header must not replace one of them.
    const own = Object.fromEntries(HEADERS.map((name) => [name, headers[name]]));
    try {
      const timestamp = checkTime(SCHEMES.chat, own, clock.now());
      return verify(SCHEMES.chat, own, timestamp, body)?.toString('hex') ?? null;
    } catch {
      return null;
    }
  }

  async function takePayload(payload: unknown): Promise<ChatAnswer> {
    try {
      const taking = incoming.take(payload);
      taking.catch((error: Error) => {
        log.error({ chat: 'slack', error: error.message }, 'a request was not recorded');
      });
      return TAKEN[(await settleWithin(acknowledgeMs, taking)) ?? 'taken'];
    } catch {
      return NOT_RECORDED;
    }
  }

  async function answerSigned(signature: string, request: ChatRequest): Promise<ChatAnswer> {
    if (!isReady()) return NOT_READY;
    // Slack's repetitions have new signatures.
    if (!(await memory.claim(`slack ${signature}`, clock.now() + 2 * SKEW_MS))) return REPLAYED;
    const payload = readBody(request);
    const challenge = readChallenge(payload);
    return challenge === null ? takePayload(payload) : { status: 200, body: { challenge } };
  }

  return {
    async receive(request) {
      const signature = checkSignature(request);
      if (signature === null) return UNSIGNED;
      const before = underWay.get(signature);
      if (before !== undefined) return before;
      const answering = answerSigned(signature, request).finally(() => underWay.delete(signature));
      underWay.set(signature, answering);
      return answering;
    },
  };
}
