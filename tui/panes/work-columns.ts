import { formatCount } from '../../engine/core/base/text.ts';
import { findScheduleName, isPausedRun, nameSessionState, nameTaskState } from '../../engine/index.ts';
import type { State } from '../state/model.ts';
import { parseIdNumber } from '../state/numbers.ts';
import type { SessionFacts, ShownSession } from '../state/rows.ts';
import { isRaceOver, WORK_SECTIONS, type WorkItem } from '../state/work-items.ts';
import { listOpenAsks } from './ask-preview.ts';
import type { PaneColumn } from './pane.ts';
import { formatSessionCost, formatSessionTokens } from './run-facts.ts';
import { addWait, getStateStyle, isUnreadableWork } from './states.ts';
import { formatQuietTime, formatSeconds, formatTimeLeft, formatTimeSince } from './time.ts';

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

/** Describes what the worker does now or, if its agent does not report that, its last output; or why it does nothing. */
function describePresent(item: WorkItem, state: State): string | null {
  const { session } = item;
  if (item.kind === 'ask') return item.ask!.question;
  const after = item.task?.waits_for == null ? null : `after ${item.task.after.join(', ')}`;
  if (session === null) return item.task?.failure?.code ?? after;
  if (session.state === 'running') return session.activity ?? session.last_line;
  return (isPausedRun(session, state.now) ? session.pause?.code : session.failure?.code) ?? after;
}

export const getTitle = ({ task, session, decision, ask }: WorkItem): string =>
  task?.title ?? session?.title ?? decision?.title ?? ask?.question ?? '';

/** Describes the current activity, then the title of the task. */
function describeRow(item: WorkItem, state: State): string {
  const title = getTitle(item);
  const present = describePresent(item, state) ?? (item.task && findScheduleName(item.task));
  const machine = item.session?.machine ?? null;
  const where = machine === null || isOver(item) ? '' : `@${machine} `;
  return `${where}${present === null || present === title ? title : `${present} · ${title}`}`;
}

/** The state of a row, in the words of its task or its run. */
export function nameItemState(item: WorkItem, state: Pick<State, 'data' | 'now'>): string {
  const { kind, task, session } = item;
  switch (kind) {
    case 'ask':
      return 'asks';
    case 'decision':
      return 'waits';
    case 'race':
      return isRaceOver(state.data, task!.race!) ? 'pick one' : 'racing';
    case 'task':
      return nameTaskState(task!, state.now);
    default:
      return describeCurrentState(session!, state);
  }
}

function describeItemState(item: WorkItem, state: State): string {
  const { session, task, ask } = item;
  const word = nameItemState(item, state);
  if (item.kind === 'ask') return `${word} ${formatTimeLeft(ask!.expires_at, state.now)}`;
  const told = addWait(word, session?.resume_at ?? task?.resume_at ?? null, state.now);
  return session !== null && isTooQuiet(session, state) ? `${told} ${QUIET_SIGN}` : told;
}

const isOver = ({ section }: WorkItem): boolean => WORK_SECTIONS[section] === 'done';

const getItemStyle = (item: WorkItem): 'dim' | undefined => (isOver(item) ? 'dim' : undefined);

/** A row that belongs to the one above it. */
const isRacer = ({ id, task }: WorkItem): boolean => id.startsWith('s-') && task?.race != null;

const getCreationTime = ({ ask, decision, session, task }: WorkItem): string | null =>
  (ask ?? decision ?? session ?? task)?.created_at ?? null;

/** Wraps a column of runs; rows without a run have none. */
const ofRun = (column: PaneColumn<ShownSession>): PaneColumn<WorkItem> => ({
  ...column,
  text: ({ session }, state) => (session === null ? '' : column.text(session, state)),
  style: ({ session }, state) => (session === null ? undefined : column.style?.(session, state)),
  value: ({ session }, state) => (session === null ? null : (column.value?.(session, state) ?? null)),
});

/** The columns that a person needs, in the order of the list. Narrow lists leave out what a preview shows anyway. */
export const WORK_COLUMNS: readonly PaneColumn<WorkItem>[] = [
  {
    head: 'id',
    width: 6,
    text: (item) => (isRacer(item) ? `└${item.id}` : item.id),
    value: ({ id }) => parseIdNumber(id) || 0,
    style: getItemStyle,
  },
  {
    head: 'state',
    width: 10,
    text: describeItemState,
    style: (item, state) =>
      item.session !== null && isTooQuiet(item.session, state)
        ? 'bad'
        : getStateStyle(nameItemState(item, state)),
  },
  {
    head: 'agent',
    width: 9,
    minWidth: 44,
    text: ({ session, decision, task, ask }) =>
      session?.agent ?? decision?.agent ?? task?.agent ?? ask?.from_session ?? '-',
    style: getItemStyle,
  },
  {
    head: 'age',
    width: 4,
    align: 'right',
    text: (item, { now }) => formatTimeSince(getCreationTime(item), now),
    value: (item, { now }) => getSeconds(getCreationTime(item), now),
    style: getItemStyle,
  },
  ofRun({
    head: 'time',
    width: 9,
    minWidth: 108,
    align: 'right',
    isLively: true,
    text: formatRunTime,
    value: (session, { now }) => getElapsedSeconds(session, now),
  }),
  ofRun({
    head: 'work',
    width: 10,
    minWidth: 66,
    align: 'right',
    isLively: true,
    text: formatLineCounts,
    value: (session) => {
      const counts = getCounts(session);
      return counts === null ? null : (counts.insertions ?? 0) + (counts.deletions ?? 0);
    },
  }),
  ofRun({
    head: 'files',
    width: 5,
    minWidth: 112,
    align: 'right',
    isLively: true,
    text: (session) => String(getCounts(session)?.files ?? '-'),
    value: (session) => getCounts(session)?.files ?? null,
  }),
  ofRun({
    head: 'tokens',
    width: 6,
    minWidth: 90,
    align: 'right',
    isLively: true,
    text: formatSessionTokens,
    value: ({ usage }) => (usage === null ? null : usage.input + usage.output),
  }),
  ofRun({
    head: 'cost',
    width: 8,
    minWidth: 100,
    align: 'right',
    isLively: true,
    text: formatSessionCost,
    value: ({ usage }) => usage?.cost_usd ?? null,
  }),
  ofRun({
    head: 'quiet',
    width: 5,
    minWidth: 104,
    align: 'right',
    isLively: true,
    text: (session, { now }) => {
      const since = getQuietSince(session);
      return since === null ? '-' : formatQuietTime(since, now);
    },
    style: (session, state) => (isTooQuiet(session, state) ? 'bad' : undefined),
    value: (session, { now }) => getSeconds(getQuietSince(session), now),
  }),
  {
    head: 'title',
    isLively: true,
    text: describeRow,
    style: getItemStyle,
    value: getTitle,
  },
];

/** Formats how many runs need a check; empty for none. */
export function describeQuietRuns(state: Pick<State, 'data' | 'now'>): string {
  const quiet = [...state.data.sessions.values()].filter((each) => isTooQuiet(each, state)).length;
  return quiet === 0 ? '' : `${formatCount(quiet, 'worker')} too quiet`;
}
