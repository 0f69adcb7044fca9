import { formatClockTime } from '../../engine/core/base/text.ts';
import { workLeftBy } from '../../engine/index.ts';
import type { SessionFacts, ShownTask } from '../state/rows.ts';
import type { TextStyle } from '../text/theme.ts';
import { formatWait } from './time.ts';

/** Adds the remaining time to `paused`, as lists show it. */
export const addWait = (state: string, at: string | null, now: number): string =>
  state === 'paused' && at !== null ? `paused ${formatWait(at, now)}` : state;

/** Adds the end to `paused`, as previews show it. */
export const addResumeTime = (state: string, at: string | null, now: number): string =>
  state === 'paused' && at !== null ? `paused until ${formatClockTime(at, now)}` : state;

const STYLES: Readonly<Record<string, TextStyle>> = {
  waits: 'warn',
  running: 'live',
  racing: 'live',
  'pick one': 'warn',
  promoted: 'good',
  starting: 'live',
  queued: 'live',
  paused: 'warn',
  stopping: 'warn',
  connecting: 'live',
  full: 'live',
  draining: 'warn',
  silent: 'warn',
  lost: 'bad',
  revoked: 'dim',
  failed: 'bad',
  dead: 'bad',
  done: 'good',
  ready: 'good',
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

export const getStateStyle = (state: string): TextStyle | undefined => STYLES[state];

/** Reports whether the task has not run yet, or has failed. */
export const canStillRun = ({
  status,
  session_id: session,
  race,
}: Pick<ShownTask, 'status' | 'session_id' | 'race'>): boolean =>
  status === 'failed' || (status !== 'done' && session === null && race === null);

/** Reports whether the run has ended and its commits could not be read, which is not the same as having none. */
export const isUnreadableWork = (row: SessionFacts): boolean =>
  row.state === 'ended' && workLeftBy(row) === 'unreadable';
