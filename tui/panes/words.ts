import { age } from '../../engine/index.ts';
import type { Plan, SessionRow, TaskRow } from '../state/model.ts';
import { clean, factLines, width, wrap } from '../text.ts';
import { type Line, type Style, span } from '../theme.ts';

/** How long ago. Whole minutes, so that a quiet screen is not written to every second. */
export function since(at: string | null, now: number): string {
  if (at === null) return '-';
  const ms = now - Date.parse(at);
  return ms < 60_000 ? 'now' : ms < 100_000 ? '1m' : age(at, now);
}

/** How long a worker has said nothing. */
export function quiet(at: string | null, now: number): string {
  if (at === null) return '-';
  const seconds = Math.max(0, Math.floor((now - Date.parse(at)) / 10_000) * 10);
  return seconds < 60 ? (seconds === 0 ? 'now' : `${seconds}s`) : since(at, now);
}

/** How long is left. Whole minutes, and ten seconds in the last one, so that the text changes only as often. */
export function left(until: string, now: number): string {
  const seconds = Math.floor((Date.parse(until) - now) / 1000);
  if (seconds <= 0) return '0s';
  if (seconds < 10) return '<10s';
  if (seconds < 60) return `${Math.floor(seconds / 10) * 10}s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 100 ? `${minutes}m` : `${Math.floor(minutes / 60)}h`;
}

export function duration(seconds: number): string {
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes}m` : `${Math.round(minutes / 6) / 10}h`;
}

/** `assigned` says too little while a decision or a free worker is waited for. */
export const taskState = (task: Pick<TaskRow, 'status' | 'session_id'> & { waits?: boolean }): string => {
  if (task.waits) return 'waits';
  return task.status === 'assigned' && task.session_id !== null ? 'queued' : task.status;
};

export const sessionState = (session: SessionRow): string => {
  if (session.state !== 'ended') return session.stop_reason === null ? session.state : 'stopping';
  if (session.promoted_at !== null) return 'merged';
  return session.failure === null ? 'done' : 'failed';
};

const STYLES: Readonly<Record<string, Style>> = {
  waits: 'warn',
  running: 'live',
  starting: 'live',
  queued: 'live',
  stopping: 'warn',
  failed: 'bad',
  dead: 'bad',
  done: 'good',
  merged: 'dim',
  delivered: 'dim',
  open: 'warn',
  blocked: 'warn',
  answered: 'dim',
  timeout: 'dim',
  alert: 'bad',
  handoff: 'live',
  verified: 'good',
  stale: 'warn',
  incomplete: 'warn',
  disagrees: 'bad',
  none: 'dim',
};

export const stateStyle = (state: string): Style | undefined => STYLES[state];

/** Lines of a text from outside, wrapped, behind a bar that shows where it begins and ends. */
export const quoted = (text: readonly string[], cells: number): Line[] =>
  text.flatMap((line) => wrap(line, cells - 2).map((part) => [span('│ ', 'border'), span(part)]));

export const heading = (text: string): Line => [span(text, 'dim')];

export const problemLines = (problem: { message: string; hint?: string | null }, cells: number): Line[] =>
  [problem.message, ...(problem.hint == null ? [] : [`next: ${problem.hint}`])].flatMap((text, index) =>
    wrap(clean(text), cells).map((part) => [span(part, index === 0 ? 'bad' : undefined)]),
  );

/** What a run would do and what it would cost. `workspace` is the name of the workspace's own project. */
export function planLines(plan: Plan, workspace: string, cells: number): Line[] {
  const { agent, command, project, base, workers } = plan;
  const where = base === null ? 'in the folder itself' : `new worktree ${plan.branch_prefix}… from ${base}`;
  const queue = `${workers.running} of ${workers.cap} workers busy`;
  return [
    ...factLines(
      [
        [
          'will run',
          `${agent ?? 'no agent'} in ${project ?? workspace} · ${where} · timeout ${duration(plan.timeout_sec)}`,
        ],
        ['command', command],
        [
          'starts',
          plan.starts === 'now' ? `at once (${queue})` : `when a worker is free (${queue})`,
          plan.starts === 'now' ? undefined : 'warn',
        ],
        ['cost', `one run of ${agent ?? 'an agent'}; what it spends is known at its end`],
      ],
      cells,
    ),
    ...(plan.problem === null ? [] : problemLines(plan.problem, cells)),
  ];
}

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Two texts at the ends of a line. */
export const ends = (left: string, right: string, cells: number): string =>
  left + ' '.repeat(Math.max(1, cells - width(left) - width(right))) + right;
