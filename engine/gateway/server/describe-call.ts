import type { GatewayCall } from './call.ts';

/** The name of those conventions for calls other than chat. */
const OPERATIONS: Readonly<Record<string, string>> = { embed: 'embeddings', gemini: 'generate_content' };

/** Returns a call as logged: names of OpenTelemetry's GenAI conventions, without content. */
export function describeCall({ row, holder, requestId }: GatewayCall): object {
  return {
    'gen_ai.operation.name': OPERATIONS[row.kind === 'embed' ? 'embed' : row.protocol] ?? 'chat',
    'gen_ai.provider.name': row.provider,
    'gen_ai.request.model': row.asked_model,
    'gen_ai.response.model': row.model,
    'gen_ai.usage.input_tokens': row.input + row.cache_read + row.cache_write,
    'gen_ai.usage.output_tokens': row.output,
    'gen_ai.usage.cache_read.input_tokens': row.cache_read,
    'gen_ai.usage.cache_creation.input_tokens': row.cache_write,
    'http.response.status_code': row.status,
    svc: {
      call: row.id,
      outcome: row.outcome,
      attempts: row.attempts,
      ms: Math.round(row.total_ms ?? 0),
      ...(requestId === null ? {} : { request: requestId }),
      ...(holder.kind === 'run' ? { session: `s-${holder.sessionId}` } : { person: holder.name }),
    },
  };
}
