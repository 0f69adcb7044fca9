import type { AgentNotify } from '../../workers/agents/index.ts';
import { type DeliveryOutcome, failedOutcome, TOLD } from './outcome.ts';
import { escapeForHeader, escapeForJson, escapeForUrl, type TemplateValues } from './values.ts';

const STEP_MS = 5000;

type Step = NonNullable<AgentNotify['steps']>[number];
export type FillTemplate = (template: string, values: TemplateValues) => string;

/** The requests of an entry, in order. */
export const listSteps = (entry: AgentNotify): readonly Step[] =>
  entry.steps !== undefined && entry.steps.length > 0 ? entry.steps : [entry];

/** Reports whether the entry needs the address of the session's own agent. */
export const needsBase = (entry: AgentNotify): boolean =>
  listSteps(entry).some(({ url }) => url?.includes('{{notify_base}}'));

/** Sends an entry's requests in order; the first failure ends the attempt. Null when `signal` ended it. */
export async function sendRequests(
  entry: AgentNotify,
  values: TemplateValues,
  { fill, signal }: { fill: FillTemplate; signal: AbortSignal },
): Promise<DeliveryOutcome | null> {
  for (const [index, step] of listSteps(entry).entries()) {
    const error = await sendRequest(step, values, { fill, signal });
    if (signal.aborted) return null;
    if (error !== null) return failedOutcome(`step ${index + 1}: ${error}`);
  }
  return TOLD;
}

/** Sends one request. Null for a 2xx answer, otherwise the reason without the address, which may hold credentials. */
async function sendRequest(
  step: Step,
  values: TemplateValues,
  { fill, signal }: { fill: FillTemplate; signal: AbortSignal },
): Promise<string | null> {
  const ending = new AbortController();
  const abortStep = (): void => ending.abort();
  const timer = setTimeout(abortStep, STEP_MS);
  signal.addEventListener('abort', abortStep);
  try {
    const method = (step.method ?? 'POST').toUpperCase();
    const headers = new Headers();
    for (const [name, value] of Object.entries(step.headers ?? {})) {
      headers.set(name, fill(value, escapeForHeader(values)));
    }
    const isJson = /\bjson\b/i.test(headers.get('content-type') ?? '');
    const hasBody = step.body !== undefined && method !== 'GET' && method !== 'HEAD';
    const response = await fetch(fill(step.url ?? '', escapeForUrl(values)), {
      method,
      headers,
      ...(hasBody ? { body: fill(step.body ?? '', isJson ? escapeForJson(values) : values) } : {}),
      // A redirect would send the message to an unconfigured address.
      redirect: 'manual',
      signal: ending.signal,
    });
    void response.body?.cancel().catch(() => undefined);
    return response.status >= 200 && response.status < 300 ? null : `HTTP ${response.status}`;
  } catch (error) {
    if (ending.signal.aborted) return `no answer within ${STEP_MS / 1000} s`;
    const code = (error as { cause?: { code?: unknown } })?.cause?.code;
    return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code) ? code : 'the request failed';
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abortStep);
  }
}
