// The one word for each state, wherever it is shown. docs/words.md is made of these tables.

/** States of a task as lists show them; `assigned` alone says too little while something is waited for. */
export const TASK_WORDS = {
  open: 'nobody is to do it yet',
  waits: 'its decision is pending: a person approves or denies it',
  assigned: 'an agent is to do it, and nothing has been asked for',
  queued: 'its session waits for a free worker',
  paused: 'its session goes on by itself at a time that is said',
  racing: 'several agents do it, each in a session of its own, and one of them is to be promoted',
  running: 'a worker does it',
  done: 'its run was sealed, or a person marked it done',
  failed: 'its run failed, it was denied or cancelled, or somebody marked it failed; its code says which',
} as const;
export type TaskWord = keyof typeof TASK_WORDS;

/** States of a worker's session. */
export const SESSION_WORDS = {
  queued: 'it waits for a free worker',
  paused: 'it goes on by itself at a time that is said',
  starting: 'its worktree is made and its agent started',
  running: 'its agent works',
  blocked: 'its agent works, and waits for the answer to a question',
  stopping: 'its processes are being ended',
  sealed: 'its run ended well, and its work is on its branch; so is the outbound event called',
  failed: 'its run ended in any other way, named by a code; so is the outbound event called',
  merged: 'its commits are in its base, by a promotion or by hand',
  discarded: 'its branch and worktree were removed, and can be restored',
} as const;
export type SessionWord = keyof typeof SESSION_WORDS;

/** States of a workspace among those of the machine. */
export const WORKSPACE_WORDS = {
  running: 'its engine answers',
  stopped: 'no engine runs for it; `svc up` there starts one',
  crashed:
    'its engine has ended without having been stopped, and is started by its supervisor or the next command there',
  stuck: 'its engine does not answer in time',
  refused: 'its engine cannot be asked from here; the reason is said',
  gone: 'its folder or its data is no longer where it was; it is forgotten when an engine starts',
} as const;
export type WorkspaceWord = keyof typeof WORKSPACE_WORDS;

/** States of everything else that has one. */
export const OTHER_WORDS = {
  'a decision': {
    pending: 'it waits for a person',
    approved: 'it starts, or has started, one run',
    denied: 'its task has failed with that code',
    expired: 'what would run is no longer what was asked about, and another decision took its place',
  },
  'a question': {
    open: 'a worker waits for its answer',
    answered: 'its worker was told',
    timeout: 'nobody answered in time',
  },
  'a message': {
    unread: 'no recipient has acknowledged it',
    read: 'its recipient has acknowledged it; a handoff is read by being shown to a person',
  },
  'a delivery': {
    pending: 'it is tried again',
    delivered: 'its target took it',
    dead: 'it was given up after a day',
  },
  'a worktree': {
    dirty: 'it holds files that are in no commit',
    clean: 'it holds none',
    merged: 'the commits of its branch are in its base',
    unmerged: 'some are not',
    live: 'its session has not ended',
    orphan: 'no session is known for it',
    unreadable: 'git could not read it',
  },
} as const satisfies Record<string, Record<string, string>>;

/** What a task says of its state, as on the wire. */
interface TaskAt {
  status: 'open' | 'assigned' | 'running' | 'done' | 'failed';
  session_id: string | null;
  resume_at: string | null;
  waits?: boolean;
  /** The race that is open for it. */
  race?: unknown;
}

/** Whether a run waits for a time and not for a free worker. Without `now`, ms, a time that has passed counts too. */
export const isPausedRun = ({ resume_at: at }: { resume_at: string | null }, now?: number): boolean =>
  at !== null && (now === undefined || Date.parse(at) > now);

export function nameTaskState(task: TaskAt, now?: number): TaskWord {
  if (task.waits) return 'waits';
  if (task.race != null) return 'racing';
  if (task.status !== 'assigned' || task.session_id === null) return task.status;
  return isPausedRun(task, now) ? 'paused' : 'queued';
}

/** What a session says of its state, as on the wire. */
interface SessionAt {
  state: 'queued' | 'starting' | 'running' | 'ended';
  stop_reason: string | null;
  resume_at: string | null;
  branch_state: string | null;
  promoted_at: string | null;
  commits: number | null;
  failure: object | null;
}

/** @param asks whether it waits for the answer to a question */
export function nameSessionState(session: SessionAt, now?: number, asks = false): SessionWord {
  if (session.state !== 'ended') {
    if (session.stop_reason !== null) return 'stopping';
    if (session.state === 'queued') return isPausedRun(session, now) ? 'paused' : 'queued';
    return asks && session.state === 'running' ? 'blocked' : session.state;
  }
  if (session.branch_state === 'discarded') return 'discarded';
  // A run without commits was not merged, whatever became of its branch.
  const isMerged = session.promoted_at !== null || session.branch_state === 'merged';
  if (isMerged && (session.commits ?? 0) > 0) return 'merged';
  return session.failure === null ? 'sealed' : 'failed';
}
