/** Every outbound event, in the order `svc notify events` prints them. */
export const EVENTS = {
  task_created: 'a task was created',
  needs_approval: 'a task waits for a decision; carries decision_id',
  approved: 'a decision was approved',
  denied: 'a decision was denied',
  dispatched: 'a worker was started for a task',
  sealed: 'a run ended with exit code 0, its worker did not mark the task failed, and its session is closed',
  failed: 'a run ended in any other way, given in reason',
  ask_opened: 'a worker asks a question and waits',
  ask_answered: 'a question was answered',
  ask_timeout: 'a question was not answered in time',
  worktree_promoted: "a session's branch was merged into its base",
  promote_conflict: 'a promotion hit a conflict; nothing was changed',
  lock_expired: 'a lock on a shared path expired',
  budget_exhausted: 'a token budget is used up',
  alert: 'an alert was sent on the bus',
} as const;

/** The id of an outbound event. */
export type OutboundEvent = keyof typeof EVENTS;

/** The name of an event for people, before its title. */
export const EVENT_WORDS: Readonly<Record<string, string>> = {
  task_created: 'New task',
  needs_approval: 'Waits for approval',
  approved: 'Approved',
  denied: 'Denied',
  dispatched: 'Started',
  sealed: 'Sealed',
  failed: 'Failed',
  ask_opened: 'A worker asks',
  ask_answered: 'Answered',
  ask_timeout: 'Not answered in time',
  worktree_promoted: 'Promoted',
  promote_conflict: 'Conflict during promotion',
  lock_expired: 'A lock expired',
  budget_exhausted: 'A budget is used up',
  alert: 'Alert',
  test: 'Test message',
};

export const EVENT_NAMES = Object.keys(EVENTS) as OutboundEvent[];

/** The body that a target receives; absent values are null. It never contains a prompt, file content or diff. */
export interface EventEnvelope {
  id: string;
  event: OutboundEvent;
  at: string;
  workspace: string;
  project: string | null;
  task_id: string | null;
  decision_id: string | null;
  session_id: string | null;
  agent: string | null;
  /** Status of the task at the time of the event. */
  status: string | null;
  title: string | null;
  reason: string | null;
}
