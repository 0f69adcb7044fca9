import { AsyncLocalStorage } from 'node:async_hooks';

/** The place of a request in a client's trace (W3C Trace Context), under OpenTelemetry's names for log fields. */
export interface TraceContext {
  trace_id: string;
  span_id: string;
}

const current = new AsyncLocalStorage<TraceContext>();

/** Reads a `traceparent`; null for none, and for an invalid one, which a receiver ignores. */
export function readTraceparent(value: unknown): TraceContext | null {
  if (typeof value !== 'string') return null;
  const [, version, traceId = '', spanId = ''] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(?:-.*)?$/.exec(value) ?? [];
  if (version === undefined || version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { trace_id: traceId, span_id: spanId };
}

/** Runs `work`; every line that it logs names the trace. */
export const runInTrace = <T>(trace: TraceContext, work: () => T): T => current.run(trace, work);

export const readCurrentTrace = (): TraceContext | object => current.getStore() ?? {};
