import type { CallRow } from '../../engine/gateway/books/schema.ts';

/** A call of the gateway as its books have it. */
export const makeCallRow = (
  given: Pick<CallRow, 'id' | 'started_at' | 'ended_at' | 'day'> & Partial<CallRow>,
): CallRow => ({
  session_id: null,
  task_id: null,
  person: null,
  client_session: null,
  protocol: 'chat',
  kind: 'generate',
  is_stream: 0,
  asked_model: 'svc',
  provider: 'up',
  model: 'gpt-5',
  status: 200,
  outcome: 'ok',
  input: 10,
  output: 5,
  cache_read: 0,
  cache_write: 0,
  is_estimated: 0,
  reserved: 0,
  attempts: 1,
  first_byte_ms: 1,
  total_ms: 5,
  bytes_in: 100,
  bytes_out: 100,
  prompt_hash: `p-${given.id}`,
  prefix_hash: 'same',
  tool_bytes: 0,
  ...given,
});
