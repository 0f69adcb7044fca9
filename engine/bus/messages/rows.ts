import { rfc3339 } from '../../core/base/clock.ts';
import { formatIdOrNull } from '../../core/base/ids.ts';

export const MESSAGE_KINDS = ['note', 'handoff', 'alert'] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

/** Delivery state of a message's notice. The inbox is authoritative in any case. */
export type MessageDeliveryState = 'pending' | 'delivered' | 'failed' | 'none';

/** A message, to exactly one of session, worker and agent. Times are RFC 3339 UTC. */
export interface Message {
  /** Increases in commit order. */
  id: number;
  kind: MessageKind;
  body: string;
  /** An attached file of the workspace, relative to the workspace's folder. */
  payloadPath: string | null;
  fromSession: string | null;
  fromAgent: string | null;
  fromName: string | null;
  /** A session, or the Chair's seat: `chair`, `chair@project`. */
  toSession: string | null;
  /** A worker over its successive sessions. */
  toWorker: string | null;
  /** The first session of that agent to take it. */
  toAgent: string | null;
  /** The message that it answers. */
  parentId: number | null;
  taskId: string | null;
  createdAt: string;
  ackedAt: string | null;
  ackedBy: string | null;
  delivery: MessageDeliveryState;
  attempts: number;
  deliveredAt: string | null;
  lastError: string | null;
}

export interface MessageRow {
  id: number;
  kind: MessageKind;
  body: string;
  payload_path: string | null;
  from_session: string | null;
  from_agent: string | null;
  from_name: string | null;
  to_session: string | null;
  to_worker: string | null;
  to_agent: string | null;
  parent_id: number | null;
  task_id: number | null;
  call_key: string | null;
  created_at: number;
  acked_at: number | null;
  acked_by: string | null;
  delivery: MessageDeliveryState;
  attempts: number;
  next_at: number | null;
  delivered_at: number | null;
  last_error: string | null;
}

const formatTimeOrNull = (ms: number | null): string | null => (ms === null ? null : rfc3339(ms));

export const toMessage = (row: MessageRow): Message => ({
  id: row.id,
  kind: row.kind,
  body: row.body,
  payloadPath: row.payload_path,
  fromSession: row.from_session,
  fromAgent: row.from_agent,
  fromName: row.from_name,
  toSession: row.to_session,
  toWorker: row.to_worker,
  toAgent: row.to_agent,
  parentId: row.parent_id,
  taskId: formatIdOrNull('t', row.task_id),
  createdAt: rfc3339(row.created_at),
  ackedAt: formatTimeOrNull(row.acked_at),
  ackedBy: row.acked_by,
  delivery: row.delivery,
  attempts: row.attempts,
  deliveredAt: formatTimeOrNull(row.delivered_at),
  lastError: row.last_error,
});

/** The target of a message: the kind and the name. */
export function readRecipient(row: MessageRow): [kind: 'session' | 'worker' | 'agent', name: string] {
  if (row.to_session !== null) return ['session', row.to_session];
  if (row.to_worker !== null) return ['worker', row.to_worker];
  return ['agent', row.to_agent ?? ''];
}
