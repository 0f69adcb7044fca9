import { randomBytes } from 'node:crypto';
import type { EngineClient } from '../engine/index.ts';

const ASK = 'Say ok.';
const PATIENCE_MS = 60_000;

type Ask = (model: string) => { path: string; body: object };

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** The smallest call of each protocol. */
const CALLS = {
  chat: {
    ask: (model) => ({
      path: '/v1/chat/completions',
      body: { model, messages: [{ role: 'user', content: ASK }] },
    }),
    key: bearer,
  },
  responses: {
    ask: (model) => ({ path: '/v1/responses', body: { model, max_output_tokens: 16, input: ASK } }),
    key: bearer,
  },
  messages: {
    ask: (model) => ({
      path: '/v1/messages',
      body: { model, max_tokens: 16, messages: [{ role: 'user', content: ASK }] },
    }),
    key: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  },
  gemini: {
    ask: (model) => ({
      path: `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
      body: { contents: [{ role: 'user', parts: [{ text: ASK }] }] },
    }),
    key: (key) => ({ 'x-goog-api-key': key }),
  },
} as const satisfies Record<string, { ask: Ask; key(key: string): Record<string, string> }>;

export type TriedProtocol = keyof typeof CALLS;
export const TRIED_PROTOCOLS = Object.keys(CALLS) as TriedProtocol[];

/** Runs `work` with a key that is only valid until it ends, even if this process is killed. */
export async function withTrialKey<T>(
  client: EngineClient,
  what: string,
  work: (key: string) => Promise<T>,
): Promise<T> {
  const { name, key } = await client.call('gateway.add_key', {
    name: `${what}-${randomBytes(4).toString('hex')}`,
    pid: process.pid,
  });
  try {
    return await work(key);
  } finally {
    await client.call('gateway.remove_key', { name });
  }
}

/** The outcome of one tiny call. */
export interface GatewayTrial {
  protocol: TriedProtocol;
  /** 0 if there was no answer. */
  status: number;
  ms: number;
  /** The answering model and provider; null for the gateway itself. */
  provider: string | null;
  model: string | null;
  is_stub: boolean;
  problem: string | null;
}

/** Sends one tiny call through the gateway, which costs a few tokens. */
export async function tryProtocol(
  url: string,
  key: string,
  protocol: TriedProtocol,
  model: string,
): Promise<GatewayTrial> {
  const call = CALLS[protocol];
  const { path, body } = call.ask(model);
  const startedAt = performance.now();
  const describeTrial = (
    facts: Pick<GatewayTrial, 'status' | 'problem'> & Partial<GatewayTrial>,
  ): GatewayTrial => ({
    protocol,
    ms: Math.round(performance.now() - startedAt),
    provider: null,
    model: null,
    is_stub: false,
    ...facts,
  });
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...call.key(key) },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    text = await answer.text();
  } catch (error) {
    const { name, message, cause } = error as Error;
    const why = name === 'TimeoutError' ? `no answer within ${PATIENCE_MS / 1000} s` : message;
    return describeTrial({ status: 0, problem: cause instanceof Error ? cause.message : why });
  }
  const { headers, status, ok } = answer;
  return describeTrial({
    status,
    provider: headers.get('x-svc-provider'),
    model: headers.get('x-svc-model'),
    is_stub: headers.has('x-svc-stub'),
    problem: ok ? null : (readErrorMessage(text) ?? `status ${status}`),
  });
}

function readErrorMessage(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } };
    return typeof error?.message === 'string' ? error.message : null;
  } catch {
    return null;
  }
}
