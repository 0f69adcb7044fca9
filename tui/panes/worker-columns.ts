import { formatCount, formatDollars } from '../../engine/core/base/text.ts';
import { isPausedRun, nameSessionState } from '../../engine/index.ts';
import type { State } from '../state/model.ts';
import { parseIdNumber } from '../state/numbers.ts';
import type { SessionFacts, ShownSession } from '../state/rows.ts';
import { listOpenAsks } from './asks.ts';
import type { PaneColumn } from './pane.ts';
import { formatSessionTokens } from './run-facts.ts';
import { addWait, getStateStyle, isUnreadableWork } from './states.ts';
import { formatQuietTime, formatSeconds, formatTimeSince } from './time.ts';

/** The share of its allowed silence after which a worker is too quiet. */
const QUIET_SHARE = 0.5;
/** Mark next to the state of a worker that is too quiet. */
const QUIET_SIGN = '!';
/** For a worker without a limit on silence. */
const QUIET_UNLIMITED_SEC = 600;

/** Returns the state of a session, `blocked` while it waits for an answer. */
export const describeCurrentState = (
  session: ShownSession,
  { data, now }: Pick<State, 'data' | 'now'>,
): string =>
  nameSessionState(
    session,
    now,
    listOpenAsks(data).some((each) => each.from_session === session.session_id),
  );

const getQuietSince = (session: ShownSession): string | null =>
  session.state === 'running' ? (session.log_written_at ?? session.started_at) : null;

const getSeconds = (since: string | null, now: number): number | null =>
  since === null ? null : Math.max(0, (now - Date.parse(since)) / 1000);

/** Reports whether a worker has been silent long enough for a person to check; not while it waits for an answer. */
export function isTooQuiet(session: ShownSession, state: Pick<State, 'data' | 'now'>): boolean {
  const quiet = getSeconds(getQuietSince(session), state.now);
  const limit = session.idle_timeout_sec || QUIET_UNLIMITED_SEC;
  return quiet !== null && quiet > limit * QUIET_SHARE && describeCurrentState(session, state) !== 'blocked';
}

const describeStateWithSign = (session: ShownSession, state: State): string => {
  const told = addWait(describeCurrentState(session, state), session.resume_at, state.now);
  return isTooQuiet(session, state) ? `${told} ${QUIET_SIGN}` : told;
};

/** Returns when the current or last run started and ended. */
function getElapsedSeconds(
  { run_started_at: run, started_at: start, ended_at: end, state }: SessionFacts,
  now: number,
): number | null {
  if (state === 'queued') return null;
  return getSeconds(run ?? start, end === null ? now : Date.parse(end));
}

/** Whole minutes, so that a quiet screen is not redrawn every second. */
function formatElapsed(seconds: number, hasEnded: boolean): string {
  if (seconds < 60) return hasEnded ? `${Math.floor(seconds)}s` : '<1m';
  return seconds < 120 ? '1m' : formatSeconds(seconds - (seconds % 60));
}

/** Formats how long it has run, and its limit. */
export function formatRunTime(session: SessionFacts, { now }: Pick<State, 'now'>): string {
  const seconds = getElapsedSeconds(session, now);
  if (seconds === null) return '-';
  const hasEnded = session.state === 'ended';
  const elapsed = formatElapsed(seconds, hasEnded);
  return hasEnded ? elapsed : `${elapsed}/${formatSeconds(session.timeout_sec)}`;
}

/** Formats the commits: at its end, or so far. */
const getCounts = (session: SessionFacts): Pick<ShownSession, 'files' | 'insertions' | 'deletions'> | null =>
  session.commits === null ? session.committed : session;

export const formatLineCounts = (session: SessionFacts): string => {
  if (isUnreadableWork(session)) return '?';
  const counts = getCounts(session);
  return counts === null ? '-' : `+${counts.insertions ?? 0} -${counts.deletions ?? 0}`;
};

export const formatCost = ({ usage }: SessionFacts): string =>
  usage?.cost_usd == null ? '-' : formatDollars(usage.cost_usd);

/** Describes what the worker does now or, if its agent does not report that, its last output; or why it does nothing. */
function describePresent(
  session: ShownSession,
  { now }: Pick<State, 'now'>,
  printed: string | null,
): string | null {
  if (session.state === 'running') return session.activity ?? printed;
  return (isPausedRun(session, now) ? session.pause?.code : session.failure?.code) ?? null;
}

/** Describes the worker's current activity, then the title of its task. */
const describeActivity =
  ({ hasLine }: { hasLine: boolean }) =>
  (session: ShownSession, state: Pick<State, 'now'>): string => {
    const present = describePresent(session, state, hasLine ? null : session.last_line);
    return present === null ? session.title : `${present} · ${session.title}`;
  };

const getLiveStyle = ({ state }: ShownSession): 'dim' | undefined => (state === 'ended' ? 'dim' : undefined);

/** The width from which the last line of the log has a separate column. */
const LINE_CELLS = 130;

/** The columns an operator needs, in the order of the list. Narrow lists leave out what a preview shows anyway. */
export const WORKER_COLUMNS: readonly PaneColumn<ShownSession>[] = [
  {
    head: 'id',
    width: 6,
    text: (session) => session.session_id,
    value: ({ session_id: id }) => parseIdNumber(id),
  },
  { head: 'agent', width: 9, minWidth: 48, text: (session) => session.agent },
  {
    head: 'task',
    width: 6,
    minWidth: 84,
    text: (session) => session.task_id,
    value: ({ task_id: id }) => parseIdNumber(id),
  },
  {
    head: 'state',
    width: 10,
    text: describeStateWithSign,
    style: (session, state) =>
      isTooQuiet(session, state) ? 'bad' : getStateStyle(describeCurrentState(session, state)),
  },
  {
    head: 'time',
    width: 9,
    minWidth: 72,
    align: 'right',
    isLively: true,
    text: formatRunTime,
    value: (session, { now }) => getElapsedSeconds(session, now),
  },
  {
    head: 'work',
    width: 9,
    minWidth: 68,
    align: 'right',
    isLively: true,
    text: formatLineCounts,
    value: (session) => {
      const counts = getCounts(session);
      return counts === null ? null : (counts.insertions ?? 0) + (counts.deletions ?? 0);
    },
  },
  {
    head: 'files',
    width: 5,
    minWidth: 100,
    align: 'right',
    isLively: true,
    text: (session) => String(getCounts(session)?.files ?? '-'),
    value: (session) => getCounts(session)?.files ?? null,
  },
  {
    head: 'tokens',
    width: 6,
    minWidth: 60,
    align: 'right',
    isLively: true,
    text: formatSessionTokens,
    value: ({ usage }) => (usage === null ? null : usage.input + usage.output),
  },
  {
    head: 'cost',
    width: 6,
    minWidth: 92,
    align: 'right',
    isLively: true,
    text: formatCost,
    value: ({ usage }) => usage?.cost_usd ?? null,
  },
  {
    head: 'quiet',
    width: 5,
    minWidth: 84,
    align: 'right',
    isLively: true,
    text: (session, { now }) => {
      const since = getQuietSince(session);
      return since === null ? '-' : formatQuietTime(since, now);
    },
    style: (session, state) => (isTooQuiet(session, state) ? 'bad' : undefined),
    value: (session, { now }) => getSeconds(getQuietSince(session), now),
  },
  {
    head: 'age',
    width: 4,
    minWidth: 120,
    align: 'right',
    text: (session, { now }) => formatTimeSince(session.created_at, now),
    value: (session, { now }) => getSeconds(session.created_at, now),
  },
  {
    head: 'doing',
    maxWidth: LINE_CELLS - 1,
    isLively: true,
    text: describeActivity({ hasLine: false }),
    style: getLiveStyle,
  },
  {
    head: 'doing',
    minWidth: LINE_CELLS,
    isLively: true,
    text: describeActivity({ hasLine: true }),
    style: getLiveStyle,
  },
  {
    head: 'last line',
    minWidth: LINE_CELLS,
    isLively: true,
    text: (session) => session.last_line ?? '',
    style: getLiveStyle,
  },
];

/** Formats how many runs need a check; empty for none. */
export function describeQuietRuns(state: Pick<State, 'data' | 'now'>): string {
  const quiet = [...state.data.sessions.values()].filter((each) => isTooQuiet(each, state)).length;
  return quiet === 0 ? '' : `${formatCount(quiet, 'worker')} too quiet`;
}
