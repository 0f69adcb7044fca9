import { workLeftBy } from '../../engine/index.ts';
import type { SessionFacts, TaskRow } from '../state/model.ts';
import type { Style } from '../text/theme.ts';
import { formatClockTime, formatWait } from './time.ts';

/** Whether a run waits for a time and not for a free worker. Without `now`, a time that has passed counts too. */
export const isPausedRun = ({ resume_at: at }: { resume_at: string | null }, now?: number): boolean =>
  at !== null && (now === undefined || Date.parse(at) > now);

type TaskAt = Pick<TaskRow, 'status' | 'session_id' | 'resume_at' | 'race'> & { waits?: boolean };

/** The status of a task, where `assigned` is split into what it waits for: a decision, a free worker or a time. */
export const describeTaskState = (task: TaskAt, now?: number): string => {
  if (task.waits) return 'waits';
  if (task.race !== null) return 'racing';
  if (task.status !== 'assigned' || task.session_id === null) return task.status;
  return isPausedRun(task, now) ? 'paused' : 'queued';
};

/** Adds to `paused` for how much longer, as lists show it. */
export const addWait = (state: string, at: string | null, now: number): string =>
  state === 'paused' && at !== null ? `paused ${formatWait(at, now)}` : state;

/** Adds to `paused` until when, as previews show it. */
export const addResumeTime = (state: string, at: string | null, now: number): string =>
  state === 'paused' && at !== null ? `paused until ${formatClockTime(at, now)}` : state;

export const describeSessionState = (session: SessionFacts, now?: number): string => {
  if (session.state === 'queued' && session.stop_reason === null)
    return isPausedRun(session, now) ? 'paused' : 'queued';
  if (session.state !== 'ended') return session.stop_reason === null ? session.state : 'stopping';
  if (session.branch_state === 'discarded') return 'discarded';
  // A run without commits was not merged, whatever became of its branch.
  const isMerged = session.promoted_at !== null || session.branch_state === 'merged';
  if (isMerged && (session.commits ?? 0) > 0) return 'merged';
  return session.failure === null ? 'done' : 'failed';
};

const STYLES: Readonly<Record<string, Style>> = {
  waits: 'warn',
  running: 'live',
  racing: 'live',
  promoted: 'good',
  starting: 'live',
  queued: 'live',
  paused: 'warn',
  stopping: 'warn',
  failed: 'bad',
  dead: 'bad',
  done: 'good',
  merged: 'dim',
  discarded: 'dim',
  delivered: 'dim',
  open: 'warn',
  blocked: 'warn',
  answered: 'dim',
  timeout: 'dim',
  alert: 'bad',
  handoff: 'live',
  verified: 'good',
  stale: 'warn',
  reported: 'warn',
  disagrees: 'bad',
  none: 'dim',
};

export const getStateStyle = (state: string): Style | undefined => STYLES[state];

/** Whether the task has not run yet, or has failed. */
export const canStillRun = ({
  status,
  session_id: session,
  race,
}: Pick<TaskRow, 'status' | 'session_id' | 'race'>): boolean =>
  status === 'failed' || (status !== 'done' && session === null && race === null);

/** Whether the run has ended and its commits could not be read, which is not the same as having none. */
export const isUnreadableWork = (row: SessionFacts): boolean =>
  row.state === 'ended' && workLeftBy(row) === 'unreadable';
