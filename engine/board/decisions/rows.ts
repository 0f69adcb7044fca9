import { rfc3339 } from '../../core/base/clock.ts';
import { formatId, formatIdOrNull } from '../../core/base/ids.ts';
import type { InputChange } from './inputs.ts';

export type DecisionState = 'pending' | 'approved' | 'denied' | 'expired';
export const DECISION_STATES = [
  'pending',
  'approved',
  'denied',
  'expired',
] as const satisfies DecisionState[];

/** A question to a person: may this run? */
export interface Decision {
  decisionId: string;
  taskId: string;
  kind: 'dispatch';
  state: DecisionState;
  agent: string | null;
  /** The agents of a race, a session each; null for other runs. */
  race: string[] | null;
  project: string | null;
  /** SHA-256, hex, of the inputs and the version of their format: an approval is valid for exactly these. */
  hash: string;
  /** The reason why it needs approval. */
  why: string;
  /** The differences from the replaced decision; empty if it replaced none. */
  changes: InputChange[];
  source: string;
  sourceRef: string | null;
  createdAt: string;
  decidedAt: string | null;
  decidedBy: string | null;
  decidedVia: string | null;
  reason: string | null;
  /** When it started its session, or all sessions of a race. */
  consumedAt: string | null;
  /** The first session of a race. */
  sessionId: string | null;
}

export interface DecisionRow {
  id: number;
  task_id: number;
  kind: 'dispatch';
  state: DecisionState;
  agent: string | null;
  project: string | null;
  hash: string;
  why: string;
  source: string;
  source_ref: string | null;
  created_at: number;
  decided_at: number | null;
  decided_by: string | null;
  decided_via: string | null;
  reason: string | null;
  consumed_at: number | null;
  session_id: number | null;
  /** JSON; null if it dates from before inputs were stored. */
  inputs: string | null;
  inputs_version: number;
  options: string | null;
  changes: string | null;
}

const readRace = (options: string | null): string[] | null =>
  // Few have one, and a list has many.
  options?.includes('"race"') ? ((JSON.parse(options) as { race?: string[] }).race ?? null) : null;

export const toDecision = (row: DecisionRow): Decision => ({
  decisionId: formatId('d', row.id),
  taskId: formatId('t', row.task_id),
  kind: row.kind,
  state: row.state,
  agent: row.agent,
  race: readRace(row.options),
  project: row.project,
  hash: row.hash,
  why: row.why,
  changes: row.changes === null ? [] : (JSON.parse(row.changes) as InputChange[]),
  source: row.source,
  sourceRef: row.source_ref,
  createdAt: rfc3339(row.created_at),
  decidedAt: row.decided_at === null ? null : rfc3339(row.decided_at),
  decidedBy: row.decided_by,
  decidedVia: row.decided_via,
  reason: row.reason,
  consumedAt: row.consumed_at === null ? null : rfc3339(row.consumed_at),
  sessionId: formatIdOrNull('s', row.session_id),
});
