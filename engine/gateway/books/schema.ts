import { join } from 'node:path';

/** Returns the path of the gateway's own database: its process writes it, the engine reads it. */
export const booksPath = (data: string): string => join(data, 'gateway.db');

/** How a call ended; `open` while it is in progress, or after the process was killed. */
export type CallOutcome =
  | 'open'
  | 'ok'
  /** Answered by the gateway itself. */
  | 'stub'
  | 'cached'
  /** Refused by the gateway because of its budget. */
  | 'denied'
  /** The upstream returned an error or no answer. */
  | 'failed'
  /** The answer was cut off. */
  | 'cut'
  | 'client_gone'
  /** The gateway was killed during the call. */
  | 'lost';

/** One call as it is stored. Tokens follow `TokenUsage`. */
export interface CallRow {
  id: number;
  started_at: number;
  ended_at: number | null;
  /** UTC, `2026-11-22`. */
  day: string;
  session_id: number | null;
  task_id: number | null;
  person: string | null;
  /** The client's own name for its conversation. */
  client_session: string | null;
  protocol: string;
  kind: string;
  is_stream: number;
  asked_model: string;
  provider: string | null;
  model: string | null;
  status: number | null;
  outcome: CallOutcome;
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
  /** The part of `cache_write` that is kept for an hour. */
  cache_write_hour: number;
  /** Estimated, not reported by an upstream. */
  is_estimated: number;
  /** Tokens reserved for the call when it started. */
  reserved: number;
  attempts: number;
  first_byte_ms: number | null;
  total_ms: number | null;
  bytes_in: number;
  bytes_out: number;
  /** Hash of the whole request, to find repeated ones. */
  prompt_hash: string;
  /** Hash of its tools and instructions, which start every turn of a conversation; null for none. */
  prefix_hash: string | null;
  /** Bytes of the new tool outputs above the threshold that were not shortened. */
  tool_bytes: number;
}

export const CALL_COLUMNS = [
  'id',
  'started_at',
  'ended_at',
  'day',
  'session_id',
  'task_id',
  'person',
  'client_session',
  'protocol',
  'kind',
  'is_stream',
  'asked_model',
  'provider',
  'model',
  'status',
  'outcome',
  'input',
  'output',
  'cache_read',
  'cache_write',
  'cache_write_hour',
  'is_estimated',
  'reserved',
  'attempts',
  'first_byte_ms',
  'total_ms',
  'bytes_in',
  'bytes_out',
  'prompt_hash',
  'prefix_hash',
  'tool_bytes',
] as const satisfies readonly (keyof CallRow)[];

export const BOOKS_SCHEMA = `
CREATE TABLE call (
  id INTEGER PRIMARY KEY,
  started_at INTEGER NOT NULL, ended_at INTEGER,
  day TEXT NOT NULL,
  session_id INTEGER, task_id INTEGER, person TEXT, client_session TEXT,
  protocol TEXT NOT NULL, kind TEXT NOT NULL, is_stream INTEGER NOT NULL,
  asked_model TEXT NOT NULL, provider TEXT, model TEXT,
  status INTEGER, outcome TEXT NOT NULL,
  input INTEGER NOT NULL, output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, cache_write_hour INTEGER NOT NULL,
  is_estimated INTEGER NOT NULL, reserved INTEGER NOT NULL,
  attempts INTEGER NOT NULL, first_byte_ms REAL, total_ms REAL,
  bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL,
  prompt_hash TEXT NOT NULL, prefix_hash TEXT, tool_bytes INTEGER NOT NULL
) STRICT;
CREATE INDEX call_day ON call (day);
CREATE INDEX call_task ON call (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX call_session ON call (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX call_open ON call (id) WHERE outcome = 'open';

-- Budgets that calls were refused for, each once: scope 'day' with the day, or 'task' with its number. The session is the
-- first that reached it.
CREATE TABLE exhausted (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  scope TEXT NOT NULL, subject TEXT NOT NULL,
  limit_tokens INTEGER NOT NULL,
  until INTEGER,
  session_id INTEGER, task_id INTEGER,
  UNIQUE (scope, subject, limit_tokens)
) STRICT;
-- Sessions whose calls are refused, and until when.
CREATE TABLE refused_session (session_id INTEGER PRIMARY KEY, until INTEGER NOT NULL) STRICT;
`;
