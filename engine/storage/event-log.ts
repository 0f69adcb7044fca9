import { type Clock, rfc3339 } from '../core/base/clock.ts';
import { formatIdOrNull, parseId } from '../core/base/ids.ts';
import type { Storage } from './database.ts';

/** The event types. The outbound catalogue (notify) is a part of this list. */
export type EventKind =
  | 'task_created'
  | 'task_assigned'
  | 'task_changed'
  | 'task_done'
  | 'task_retried'
  | 'schedule_added'
  | 'schedule_removed'
  | 'schedule_skipped'
  | 'needs_approval'
  | 'approved'
  | 'denied'
  | 'decision_expired'
  | 'dispatched'
  | 'session_started'
  | 'session_stopping'
  | 'session_paused'
  | 'session_resumed'
  | 'session_dropped'
  | 'session_interrupted'
  | 'circuit_reset'
  | 'project_trusted'
  | 'project_shared'
  | 'project_unshared'
  | 'runner_added'
  | 'runner_drained'
  | 'runner_invited'
  | 'runner_joined'
  | 'broker_created'
  | 'runner_revoked'
  | 'runner_removed'
  | 'run_lost'
  | 'run_superseded'
  | 'project_untrusted'
  | 'sealed'
  | 'failed'
  | 'worktree_promoted'
  | 'promote_conflict'
  | 'task_archived'
  | 'task_unarchived'
  | 'worktree_pruned'
  | 'worktree_discarded'
  | 'worktree_restored'
  | 'command_started'
  | 'command_ended'
  | 'promotion_undone'
  | 'race_changed'
  | 'pull_request'
  | 'delivery_dead'
  | 'session_joined'
  | 'session_left'
  | 'message_sent'
  | 'message_amended'
  | 'message_acked'
  | 'ask_opened'
  | 'ask_answered'
  | 'ask_timeout'
  | 'lock_acquired'
  | 'lock_released'
  | 'lock_expired'
  | 'item_claimed'
  | 'item_released'
  | 'verification_reported'
  | 'verification_rerun'
  | 'comment_added'
  | 'comment_removed'
  | 'budget_exhausted'
  | 'memory_changed'
  | 'link_changed'
  | 'alert'
  | 'engine_started'
  | 'engine_stopped'
  | 'data_cleaned'
  | 'config_reloaded'
  | 'config_written'
  | 'config_trusted';

/** Ids in their outer form (`t-42`). */
export interface EventInput {
  kind: EventKind;
  taskId?: string | null;
  decisionId?: string | null;
  sessionId?: string | null;
  actor?: string | null;
  via?: string | null;
  data?: Record<string, unknown>;
}

export interface LoggedEvent {
  /** Grows in commit order; the resume point of a subscription. */
  seq: number;
  at: string;
  kind: EventKind;
  taskId: string | null;
  decisionId: string | null;
  sessionId: string | null;
  actor: string | null;
  via: string | null;
  data: Record<string, unknown>;
}

export interface EventLog {
  /** Only inside `storage.write`. Runs the `onAppend` hooks in the same transaction. */
  append(event: EventInput): LoggedEvent;
  /** Returns events after `seq`, oldest first, at most `limit` (500). */
  listAfter(seq: number, limit?: number): LoggedEvent[];
  /** Returns events, newest first, at most `limit` (100); `before` is a seq. */
  listEvents(filter: {
    taskId?: string | undefined;
    before?: number | undefined;
    limit?: number | undefined;
  }): LoggedEvent[];
  /** Returns the newest events of a task, oldest first, at most `limit` (200). */
  listOfTask(taskId: string, limit?: number): LoggedEvent[];
  countOfTask(taskId: string): number;
  lastSeq(): number;
  /** Changes with a new database, so that a resume point of an old one is not trusted. */
  readonly logId: string;
  /** Adds a hook that runs inside the transaction of every append. */
  onAppend(hook: (event: LoggedEvent) => void): void;
}

interface Row {
  seq: number;
  at: number;
  kind: EventKind;
  task_id: number | null;
  decision_id: number | null;
  session_id: number | null;
  actor: string | null;
  via: string | null;
  data: string;
}

const parseOptionalId = (kind: 't' | 'd' | 's', id: string | null | undefined): number | null =>
  id === null || id === undefined ? null : parseId(kind, id);

const toEvent = (row: Row): LoggedEvent => ({
  seq: row.seq,
  at: rfc3339(row.at),
  kind: row.kind,
  taskId: formatIdOrNull('t', row.task_id),
  decisionId: formatIdOrNull('d', row.decision_id),
  sessionId: formatIdOrNull('s', row.session_id),
  actor: row.actor,
  via: row.via,
  data: JSON.parse(row.data) as Record<string, unknown>,
});

/** Owns the append-only log of all changes. */
export function createEventLog({ storage, clock }: { storage: Storage; clock: Clock }): EventLog {
  const { db } = storage;
  const insert = db.prepare<unknown[]>(
    'INSERT INTO event (at, kind, task_id, decision_id, session_id, actor, via, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const after = db.prepare<unknown[], Row>('SELECT * FROM event WHERE seq > ? ORDER BY seq LIMIT +?');
  const newest = db.prepare<unknown[], Row>('SELECT * FROM event WHERE seq < ? ORDER BY seq DESC LIMIT +?');
  const newestOf = db.prepare<unknown[], Row>(
    'SELECT * FROM event WHERE task_id = ? AND seq < ? ORDER BY seq DESC LIMIT +?',
  );
  const countOf = db.prepare<unknown[], { n: number }>('SELECT count(*) AS n FROM event WHERE task_id = ?');
  const last = db.prepare<unknown[], { seq: number | null }>('SELECT max(seq) AS seq FROM event');
  const hooks: ((event: LoggedEvent) => void)[] = [];

  const listEvents: EventLog['listEvents'] = ({ taskId, before = Number.MAX_SAFE_INTEGER, limit = 100 }) =>
    (taskId === undefined
      ? newest.all(before, limit)
      : newestOf.all(parseId('t', taskId), before, limit)
    ).map(toEvent);

  return {
    append(event) {
      const at = clock.now();
      const data = event.data ?? {};
      const taskId = event.taskId ?? null;
      const decisionId = event.decisionId ?? null;
      const sessionId = event.sessionId ?? null;
      const { lastInsertRowid } = insert.run(
        at,
        event.kind,
        parseOptionalId('t', taskId),
        parseOptionalId('d', decisionId),
        parseOptionalId('s', sessionId),
        event.actor ?? null,
        event.via ?? null,
        JSON.stringify(data),
      );
      const logged: LoggedEvent = {
        seq: Number(lastInsertRowid),
        at: rfc3339(at),
        kind: event.kind,
        taskId,
        decisionId,
        sessionId,
        actor: event.actor ?? null,
        via: event.via ?? null,
        data,
      };
      for (const hook of hooks) hook(logged);
      return logged;
    },
    listAfter: (seq, limit = 500) => after.all(seq, limit).map(toEvent),
    listEvents,
    listOfTask: (taskId, limit = 200) => listEvents({ taskId, limit }).reverse(),
    countOfTask: (taskId) => countOf.get(parseId('t', taskId))?.n ?? 0,
    lastSeq: () => last.get()?.seq ?? 0,
    logId:
      db.prepare<unknown[], { value: string }>("SELECT value FROM meta WHERE key = 'log_id'").get()?.value ??
      '',
    onAppend(hook) {
      hooks.push(hook);
    },
  };
}
