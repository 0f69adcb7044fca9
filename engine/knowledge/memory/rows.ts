import { rfc3339 } from '../../core/base/clock.ts';

/** Characters. */
export const LONGEST_TITLE = 1000;
export const LONGEST_TEXT = 100_000;

export type MemoryState = 'active' | 'forgotten' | 'expired' | 'superseded';

/** Knowledge that a caller stored for later. Times are RFC 3339 UTC. */
export interface Memory {
  id: string;
  type: string;
  title: string;
  text: string;
  tags: string[];
  /** Its source, in the author's words. */
  source: string | null;
  state: MemoryState;
  supersededBy: string | null;
  /** A newer active memory that may say what is true now. */
  maybeReplacedBy: string | null;
  /** Why a person must review it before it enters a brief, as a clause; null if no review is needed. */
  unreviewed: string | null;
  actor: string;
  seat: string;
  sessionId: string | null;
  taskId: string | null;
  /** The preset of the session that stored it. */
  agent: string | null;
  createdAt: string;
  /** The time of the last change of type, title or text. */
  changedAt: string;
  endedAt: string | null;
  keptBy: string | null;
  keptAt: string | null;
}

export interface MemoryRow {
  number: number;
  id: string;
  type: string;
  title: string;
  title_key: string;
  text: string;
  tags: string;
  source: string | null;
  digest: string;
  state: MemoryState;
  superseded_by: string | null;
  maybe_replaced_by: string | null;
  unreviewed: string | null;
  actor: string;
  seat: string;
  via: string;
  session_id: string | null;
  task_id: string | null;
  agent: string | null;
  created_at: number;
  changed_at: number;
  ended_at: number | null;
  kept_by: string | null;
  kept_at: number | null;
  /** For an imported memory: the path of its file, and its frontmatter if svc would write a different one. */
  okf_path: string | null;
  okf_frontmatter: string | null;
}

const timeOrNull = (at: number | null): string | null => (at === null ? null : rfc3339(at));

export const toMemory = (row: MemoryRow): Memory => ({
  id: row.id,
  type: row.type,
  title: row.title,
  text: row.text,
  tags: JSON.parse(row.tags) as string[],
  source: row.source,
  state: row.state,
  supersededBy: row.superseded_by,
  maybeReplacedBy: row.maybe_replaced_by,
  unreviewed: row.unreviewed,
  actor: row.actor,
  seat: row.seat,
  sessionId: row.session_id,
  taskId: row.task_id,
  agent: row.agent,
  createdAt: rfc3339(row.created_at),
  changedAt: rfc3339(row.changed_at),
  endedAt: timeOrNull(row.ended_at),
  keptBy: row.kept_by,
  keptAt: timeOrNull(row.kept_at),
});

export interface BriefRow {
  session_id: string;
  task_id: string;
  at: number;
  ids: string;
  bytes: number;
}

/** The memories that a worker received, and their approximate tokens. */
export interface MemoryBrief {
  sessionId: string;
  taskId: string;
  at: string;
  /** In the order of the file. */
  ids: string[];
  bytes: number;
  tokens: number;
}

/** Approximate bytes of plain text per token. */
const BYTES_PER_TOKEN = 4;

export const toBrief = (row: BriefRow): MemoryBrief => ({
  sessionId: row.session_id,
  taskId: row.task_id,
  at: rfc3339(row.at),
  ids: JSON.parse(row.ids) as string[],
  bytes: row.bytes,
  tokens: Math.ceil(row.bytes / BYTES_PER_TOKEN),
});
