import {
  describeConsent,
  formatAge,
  formatCount,
  formatLocalTime,
  listSetupFacts,
  localizeTimes,
  workLeftBy,
} from '../../engine/index.ts';
import type { Plan, SessionRow, State, TaskRow } from '../state/model.ts';
import { clean, cleanLines, factLines, width, wrap } from '../text.ts';
import { type Line, type Style, span } from '../theme.ts';

/** How long ago. Whole minutes, so that a quiet screen is not written to every second. */
export function since(at: string | null, now: number): string {
  if (at === null) return '-';
  const ms = now - Date.parse(at);
  return ms < 60_000 ? 'now' : ms < 100_000 ? '1m' : formatAge(at, now);
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

/** How long until something goes on. The last minute is not counted down. */
export function wait(until: string, now: number): string {
  const minutes = Math.ceil((Date.parse(until) - now) / 60_000);
  if (minutes <= 1) return '<1m';
  if (minutes < 100) return `${minutes}m`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.round(hours / 24)}d`;
}

/** The local time to the minute, with the day when that is another. */
export function clockTime(at: string, now: number): string {
  const text = formatLocalTime(at);
  const isToday = text.slice(0, 10) === formatLocalTime(new Date(now).toISOString()).slice(0, 10);
  return text.slice(isToday ? 11 : 5, 16);
}

/** Whether it waits for a time, and not for a worker; without `now` also when the time has come. */
export const isPaused = ({ resume_at: at }: { resume_at: string | null }, now?: number): boolean =>
  at !== null && (now === undefined || Date.parse(at) > now);

type TaskAt = Pick<TaskRow, 'status' | 'session_id' | 'resume_at'> & { waits?: boolean };

/** `assigned` says too little while a decision, a free worker or a time is waited for. */
export const taskState = (task: TaskAt, now?: number): string => {
  if (task.waits) return 'waits';
  if (task.status !== 'assigned' || task.session_id === null) return task.status;
  return isPaused(task, now) ? 'paused' : 'queued';
};

/** In a list: of a paused one, for how long. */
export const withWait = (state: string, at: string | null, now: number): string =>
  state === 'paused' && at !== null ? `paused ${wait(at, now)}` : state;

/** In a preview: of a paused one, until when. */
export const withTime = (state: string, at: string | null, now: number): string =>
  state === 'paused' && at !== null ? `paused until ${clockTime(at, now)}` : state;

export const sessionState = (session: SessionRow, now?: number): string => {
  if (session.state === 'queued' && session.stop_reason === null)
    return isPaused(session, now) ? 'paused' : 'queued';
  if (session.state !== 'ended') return session.stop_reason === null ? session.state : 'stopping';
  // What changed nothing was not merged, whatever became of its branch.
  const isMerged = session.promoted_at !== null || session.branch_state === 'merged';
  if (isMerged && (session.commits ?? 0) > 0) return 'merged';
  return session.failure === null ? 'done' : 'failed';
};

const STYLES: Readonly<Record<string, Style>> = {
  waits: 'warn',
  running: 'live',
  starting: 'live',
  queued: 'live',
  paused: 'warn',
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
  reported: 'warn',
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
    wrap(clean(localizeTimes(text)), cells).map((part) => [span(part, index === 0 ? 'bad' : undefined)]),
  );

/** By which protocol, on whose account and within which bounds an agent runs; what is not known yet is left out. */
export const howOf = ({
  transport,
  auth,
  profile,
}: Pick<SessionRow, 'transport' | 'auth' | 'profile'>): string =>
  [transport, auth, profile].filter((each) => each !== null).join(' · ');

/** Until when an agent is given no work; later one run at a time tries. */
export const untilWords = (reopenAt: string, now: number): string =>
  Date.parse(reopenAt) > now ? `until ${clockTime(reopenAt, now)}` : 'until a run of it goes well';

const costOf = ({ agent, auth }: Plan): string =>
  `one run of ${agent ?? 'an agent'}${auth === null ? '' : auth === 'gateway' ? ', through the gateway' : ', on its own account'}; what it spends is told while it runs`;

/** What is run outside of any confinement is read before anything is agreed to. */
const carriedLines = ({ carries }: Plan): [name: string, text: string | null, style?: Style][] =>
  carries === null
    ? []
    : [
        ...listSetupFacts(carries),
        ['consent', describeConsent(carries), carries.consent === 'given' ? 'warn' : 'bad'],
      ];

/** What a run would do and what it would cost. */
export function planLines(plan: Plan, { link, now }: Pick<State, 'link' | 'now'>, cells: number): Line[] {
  const { agent, command, project, base, workers, held_back: held } = plan;
  const where = base === null ? 'in the folder itself' : `new worktree ${plan.branch_prefix}… from ${base}`;
  const at =
    plan.base_commit === null || plan.base_commit === base
      ? null
      : `${base}@${plan.base_commit.slice(0, 10)}`;
  const queue = `${workers.running} of ${formatCount(workers.cap, 'worker')} busy`;
  return [
    ...factLines(
      [
        [
          'will run',
          `${agent ?? 'no agent'} in ${project ?? link.workspace} · ${where} · timeout ${duration(plan.timeout_sec)}`,
        ],
        ['command', command],
        ['how', [howOf(plan), at].filter(Boolean).join(' · ')],
        ...carriedLines(plan),
        [
          'starts',
          plan.starts === 'now'
            ? `at once (${queue})`
            : held === null
              ? `when a worker is free (${queue})`
              : `when ${agent ?? 'the agent'} is tried again (${queue})`,
          plan.starts === 'now' ? undefined : 'warn',
        ],
        [
          'held back',
          held === null
            ? null
            : `${agent} ${untilWords(held.until, now)}: ${held.code}: ${held.text}; H gives it work again`,
          'bad',
        ],
        ['cost', costOf(plan)],
      ],
      cells,
    ),
    ...(plan.problem === null ? [] : problemLines(plan.problem, cells)),
  ];
}

/** Lines of a prompt that are its beginning. */
const BEGINNING = 3;

/**
 * What a person agrees to with a run: which agent within which bounds, how long its prompt is, and how that begins. `whole`
 * is the prompt where it goes on after that.
 */
export function agreementLines(
  { plan, prompt, hash }: { plan: Plan; prompt: string; hash: string },
  cells: number,
): { lines: Line[]; whole: Line[] } {
  const all = quoted(cleanLines(prompt.trimEnd()), cells);
  const more = all.length - BEGINNING;
  const length = `${prompt.length} chars, sha ${hash.slice(0, 16)}…`;
  return {
    lines: [
      ...factLines([['agent ', [plan.agent ?? 'none', plan.profile].filter(Boolean).join(' · ')]], cells),
      [span('prompt ', 'dim'), span(length)],
      ...all.slice(0, BEGINNING),
    ],
    whole:
      more <= 0
        ? []
        : [[], heading(`the whole prompt, ${formatCount(more, 'line')} more than its beginning`), ...all],
  };
}

/** A task that has not run yet, or has failed. */
export const mayStillRun = ({
  status,
  session_id: session,
}: Pick<TaskRow, 'status' | 'session_id'>): boolean =>
  status === 'failed' || (status !== 'done' && session === null);

/** Two texts at the ends of a line. */
export const ends = (left: string, right: string, cells: number): string =>
  left + ' '.repeat(Math.max(1, cells - width(left) - width(right))) + right;

/** It has ended, and what it did could not be read: not the same as nothing. */
export const isUnread = (row: SessionRow): boolean =>
  row.state === 'ended' && workLeftBy(row) === 'unreadable';
