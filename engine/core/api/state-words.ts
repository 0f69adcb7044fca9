// The name of each state, used wherever it is shown. docs/reference/states.md is generated from these tables.

/** States of a task as lists show them; `assigned` alone is too vague for a task that waits. */
export const TASK_WORDS = {
  open: 'not assigned yet',
  waits: 'its decision is pending: a person approves or denies it',
  assigned: 'assigned to an agent, without a request to run it',
  queued: 'its session waits for a free worker slot, or for another task',
  paused: 'its session resumes by itself at the time shown',
  blocked: 'its worker waits for the answer to a question',
  racing: 'several agents work on it, each in its own session, and one of them is promoted',
  'pick one': 'the sessions of its race have ended, and a person promotes one of them',
  running: 'a worker is working on it',
  done: 'its run succeeded, or a person marked it done',
  failed:
    'its run failed, it was denied or cancelled, or someone marked it failed; its code names the reason',
} as const;
export type TaskWord = keyof typeof TASK_WORDS;

/** States of a worker's session. */
export const SESSION_WORDS = {
  queued: 'it waits for a free worker slot, or for another task',
  paused: 'it resumes by itself at the time shown',
  starting: 'its worktree is being created and its agent started',
  running: 'its agent is working',
  blocked: 'its agent waits for the answer to a question, working or stopped until then',
  stopping: 'its processes are being stopped',
  ready: 'its run succeeded, and its work is on its branch; the outbound event is called `sealed`',
  done: 'its run succeeded without a commit, so there is nothing to merge; the outbound event is called `sealed`',
  failed: 'its run ended in any other way, with a code; the outbound event has the same name',
  merged: 'its commits are in its base, by a promotion or by hand',
  discarded: 'its branch and worktree were removed, and can be restored',
} as const;
export type SessionWord = keyof typeof SESSION_WORDS;

/** States of a workspace on this machine. */
export const WORKSPACE_WORDS = {
  running: 'its engine answers',
  stopped: 'its engine is not running; `svc up` there starts it',
  crashed: 'its engine ended unexpectedly; its supervisor or the next command there restarts it',
  stuck: 'its engine does not answer in time',
  refused: 'its engine cannot be queried from here; the reason is shown',
  gone: 'its folder or its data has moved or was removed; it leaves the list when an engine starts',
} as const;
export type WorkspaceWord = keyof typeof WORKSPACE_WORDS;

/** States of all other objects. */
export const OTHER_WORDS = {
  'a decision': {
    pending: 'it waits for a person',
    approved: 'it starts, or has started, one run',
    denied: 'its task has failed with the code `denied`',
    expired: 'what would run has changed since the decision was created, and another decision replaced it',
  },
  'a question': {
    open: 'a worker waits for its answer',
    answered: 'its worker has received the answer',
    timeout: 'no one answered in time',
  },
  'a message': {
    unread: 'no recipient has acknowledged it',
    read: 'its recipient has acknowledged it; a handoff is also read once it is shown to a person',
  },
  'a delivery': {
    pending: 'it is sent at the next attempt',
    delivered: 'its target accepted it',
    dead: 'it is no longer retried, after a day of failures',
  },
  'a worktree': {
    dirty: 'it has uncommitted files',
    clean: 'it has no uncommitted files',
    merged: 'the commits of its branch are in its base',
    unmerged: 'some commits of its branch are not in its base',
    live: 'its session has not ended',
    orphan: 'it belongs to no known session',
    unreadable: 'git could not read it',
  },
} as const satisfies Record<string, Record<string, string>>;

/** Returns the name of a kind of event on screens: `sealed` is the state that a run then has. */
export const nameEvent = (kind: string): string => (kind === 'sealed' ? 'ready' : kind.replaceAll('_', ' '));

/** The fields of a task that determine its state, as on the wire. */
interface TaskAt {
  status: 'open' | 'assigned' | 'running' | 'done' | 'failed';
  session_id: string | null;
  resume_at: string | null;
  waits?: boolean;
  /** The task's open race. */
  race?: unknown;
  /** True if all sessions of that race have ended. */
  race_ready?: boolean;
}

/** Reports whether a run waits for a time and not for a free worker. Without `now`, ms, a past time counts too. */
export const isPausedRun = ({ resume_at: at }: { resume_at: string | null }, now?: number): boolean =>
  at !== null && (now === undefined || Date.parse(at) > now);

/** Unix ms: the time of a pause that only an answer ends. */
export const UNTIL_ANSWERED = Date.parse('9999-01-01T00:00:00Z');

/** Reports whether a run waits for the answer to its question, its agent stopped. */
export const isUntilAnswered = ({ resume_at: at }: { resume_at: string | null }): boolean =>
  at !== null && Date.parse(at) >= UNTIL_ANSWERED;

export function nameTaskState(task: TaskAt, now?: number): TaskWord {
  if (task.waits) return 'waits';
  if (task.race != null) return task.race_ready ? 'pick one' : 'racing';
  if (task.status !== 'assigned' || task.session_id === null) return task.status;
  if (isUntilAnswered(task)) return 'blocked';
  return isPausedRun(task, now) ? 'paused' : 'queued';
}

/** The fields of a session that determine its state, as on the wire. */
interface SessionAt {
  state: 'queued' | 'starting' | 'running' | 'ended';
  stop_reason: string | null;
  resume_at: string | null;
  branch_state: string | null;
  promoted_at: string | null;
  commits: number | null;
  failure: object | null;
}

/** @param asks true if it waits for the answer to a question */
export function nameSessionState(session: SessionAt, now?: number, asks = false): SessionWord {
  if (session.state !== 'ended') {
    if (session.stop_reason !== null) return 'stopping';
    if (session.state === 'queued' && isUntilAnswered(session)) return 'blocked';
    if (session.state === 'queued') return isPausedRun(session, now) ? 'paused' : 'queued';
    return asks && session.state === 'running' ? 'blocked' : session.state;
  }
  if (session.branch_state === 'discarded') return 'discarded';
  // A run without commits was not merged, regardless of its branch.
  const isMerged = session.promoted_at !== null || session.branch_state === 'merged';
  if (isMerged && (session.commits ?? 0) > 0) return 'merged';
  if (session.failure !== null) return 'failed';
  return session.commits === 0 ? 'done' : 'ready';
}
