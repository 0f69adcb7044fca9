import { rfc3339 } from '../../core/base/clock.ts';
import { formatId } from '../../core/base/ids.ts';

/** The version of a line's file: `new` is the branch, `old` its start. */
export const DIFF_SIDES = ['new', 'old'] as const;
export type DiffSide = (typeof DIFF_SIDES)[number];

/** A person's comment on a line of a session's diff. Times are RFC 3339 UTC. */
export interface DiffComment {
  commentId: number;
  sessionId: string;
  /** Relative to the top of the repository. */
  path: string;
  side: DiffSide;
  /** From 1. */
  line: number;
  /** The line itself, as it was then. */
  text: string;
  body: string;
  /** The commit at the end of the branch at that time. */
  head: string;
  actor: string;
  createdAt: string;
}

export interface DiffCommentRow {
  id: number;
  session: number;
  path: string;
  side: DiffSide;
  line: number;
  text: string;
  body: string;
  head: string;
  actor: string;
  created_at: number;
}

export const toDiffComment = (row: DiffCommentRow): DiffComment => ({
  commentId: row.id,
  sessionId: formatId('s', row.session),
  path: row.path,
  side: row.side,
  line: row.line,
  text: row.text,
  body: row.body,
  head: row.head,
  actor: row.actor,
  createdAt: rfc3339(row.created_at),
});
