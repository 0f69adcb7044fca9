import { rfc3339 } from '../../core/base/clock.ts';
import { formatIdOrNull } from '../../core/base/ids.ts';

export const ASK_STATUSES = ['open', 'answered', 'timeout'] as const;
export type AskStatus = (typeof ASK_STATUSES)[number];

/** A location in the code that an answer refers to, as far as it could be resolved. */
export interface SymbolRef {
  /** Relative to the workspace's folder. */
  path: string;
  line: number | null;
  symbol: string | null;
  /** The registered project; null for the workspace's own. */
  project: string | null;
}

/** A question that its asker waits on. Times are RFC 3339 UTC. */
export interface Ask {
  id: number;
  status: AskStatus;
  /** The asker; null if it has no session. */
  fromSession: string | null;
  taskId: string | null;
  /** A session, or the Chair's seat: `chair`, `chair@project`. */
  toSession: string;
  /** The project whose Chair is asked; null for the workspace's own. */
  project: string | null;
  question: string;
  context: string | null;
  /** The allowed answers; empty for any text. */
  options: string[];
  createdAt: string;
  expiresAt: string;
  answeredAt: string | null;
  answeredBy: string | null;
  answer: string | null;
  symbolRef: SymbolRef | null;
}

export interface AskRow {
  id: number;
  status: AskStatus;
  from_session: string | null;
  task_id: number | null;
  to_session: string;
  project: string | null;
  question: string;
  context: string | null;
  options: string;
  created_at: number;
  expires_at: number;
  answered_at: number | null;
  answered_by: string | null;
  answer: string | null;
  symbol_ref: string | null;
  call_key: string | null;
}

export const toAsk = (row: AskRow): Ask => ({
  id: row.id,
  status: row.status,
  fromSession: row.from_session,
  taskId: formatIdOrNull('t', row.task_id),
  toSession: row.to_session,
  project: row.project,
  question: row.question,
  context: row.context,
  options: JSON.parse(row.options) as string[],
  createdAt: rfc3339(row.created_at),
  expiresAt: rfc3339(row.expires_at),
  answeredAt: row.answered_at === null ? null : rfc3339(row.answered_at),
  answeredBy: row.answered_by,
  answer: row.answer,
  symbolRef: row.symbol_ref === null ? null : (JSON.parse(row.symbol_ref) as SymbolRef),
});
