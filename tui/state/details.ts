import type { PaneId } from '../pane-ids.ts';
import type { DetailSubject, LogSource, State } from './model.ts';
import type { BulkQuestion, CompareRace } from './overlays.ts';
import type {
  DashboardData,
  DetailKind,
  ListedLock,
  ListedWork,
  LoadedDetail,
  ShownSession,
} from './rows.ts';
import { findShownLog, getRunText, getSelectedSession, isShowingRun } from './selection.ts';
import { findWorkItem } from './work-items.ts';

/** Competitors of a race may hold the same path. */
export const getLockId = ({ path, holder }: Pick<ListedLock, 'path' | 'holder'>): string =>
  `${holder}:${path}`;

/** How many details are kept. Enough to go back and forth; each may hold a whole patch. */
const MOST_DETAILS = 20;
/** A worker needs its work, its evidence and its task. */
const MOST_DETAILS_PER_ROW = 3;

export function findDetail<K extends DetailKind>(
  state: State,
  kind: K,
  id: string,
): LoadedDetail<K> | undefined {
  return state.details.find((each) => each.kind === kind && each.id === id) as LoadedDetail<K> | undefined;
}

/** Returns the work whose diff is the text of the selected row; null for none. */
export function findShownWork(state: State): ListedWork | null {
  if (!isShowingRun(state) || getRunText(state) !== 'work') return null;
  return findDetail(state, 'work', getSelectedSession(state)!.session_id)?.detail ?? null;
}

/** Reports whether the diff of the selected row is on its way, as after a move of a branch. */
export const isFetchingShownWork = (state: State): boolean =>
  isShowingRun(state) &&
  getRunText(state) === 'work' &&
  findDetail(state, 'work', getSelectedSession(state)!.session_id) === undefined;

/** Adds a detail and drops the oldest, but none while a question about many rows is open. */
export const addDetail = (
  { details, overlay, lists }: State,
  loaded: LoadedDetail,
): readonly LoadedDetail[] => {
  const asked = overlay?.kind === 'bulk' ? lists[overlay.pane].marks.size : 0;
  return [loaded, ...details.filter((each) => each.kind !== loaded.kind || each.id !== loaded.id)].slice(
    0,
    MOST_DETAILS + asked * MOST_DETAILS_PER_ROW,
  );
};

/** Reports whether a detail may change whenever a branch moves. */
export const isOfBranch = (kind: DetailKind): boolean => kind === 'work' || kind === 'comments';

/** Drops details about work in a repository whose branches have moved. */
export const dropWorkDetails = (
  details: readonly LoadedDetail[],
  data: DashboardData,
  repository: string,
): readonly LoadedDetail[] =>
  details.filter(({ kind, id }) => !isOfBranch(kind) || data.sessions.get(id)?.repository !== repository);

/** Returns a stamp that changes whenever a detail or an armed question about a subject goes out of date. Empty if it is gone. */
export function getSubjectStamp(data: DashboardData, { kind, id }: DetailSubject): string {
  switch (kind) {
    case 'task':
      return data.tasks.has(id) ? JSON.stringify(data.tasks.get(id)) : '';
    case 'decision': {
      const decision = data.decisions.get(id);
      return decision === undefined ? '' : `${decision.state} ${decision.hash}`;
    }
    case 'session': {
      const session = data.sessions.get(id);
      if (session === undefined) return '';
      const {
        state,
        stop_reason: stop,
        resume_at: resume,
        head_commit: head,
        promoted_at: promoted,
        branch_state: branch,
      } = session;
      return [state, stop, resume, head, promoted, branch, data.reports.get(id)].join(' ');
    }
    case 'lock': {
      const lock = data.locks.find((each) => getLockId(each) === id);
      return lock === undefined ? '' : `${lock.holder} ${lock.fence}`;
    }
    case 'agent': {
      const held = data.held.find((each) => each.agent === id);
      return held === undefined ? '' : `${held.opened_at} ${held.reopen_at}`;
    }
    case 'memory': {
      const memory = data.memories?.memories.find((each) => each.id === id);
      return memory === undefined
        ? ''
        : [id, memory.unreviewed, ...memory.against.map((each) => each.id)].join(' ');
    }
    case 'delivery':
      return data.deliveries.get(id)?.state ?? '';
    case 'message': {
      const message = data.messages.get(id);
      return message === undefined ? '' : `${message.id} ${message.acked_at}`;
    }
    case 'runner': {
      const runner = data.runners?.find((each) => each.id === id);
      // Its connection may come and go while a person reads the question.
      return runner === undefined ? '' : `${runner.state === 'draining'} ${runner.state === 'revoked'}`;
    }
    case 'program':
      return id;
  }
}

/** Data for the screen beyond rows, which must be fetched. */
export interface WantedDetails {
  details: readonly { kind: DetailKind; id: string; stamp: string }[];
  /** The log that is followed. */
  log: LogSource | null;
}

const wantDetail = (
  data: DashboardData,
  kind: DetailKind,
  subject: DetailSubject,
): WantedDetails['details'][number] => ({
  kind,
  id: subject.id,
  stamp: getSubjectStamp(data, subject),
});

/** Comments belong to a session and to the sessions that it continues, so any event about comments matters. */
const wantComments = (data: DashboardData, id: string): WantedDetails['details'][number] => ({
  kind: 'comments',
  id,
  stamp: `${getSubjectStamp(data, { kind: 'session', id })} ${data.commented}`,
});

/** Returns the row of the patch under the cursor, while its diff has the keyboard; otherwise null. */
export function findDiffCursor(state: State): number | null {
  const { diffCursor: cursor, focus, view } = state;
  if (cursor === null || focus !== 'work' || view === 'list' || getRunText(state) !== 'work') return null;
  if (cursor.session !== getSelectedSession(state)?.session_id) return null;
  return findDetail(state, 'work', cursor.session)?.detail?.head === cursor.head ? cursor.at : null;
}

/** Returns the session whose impact is shown or about to be promoted; null for none. It is only requested then. */
export const findImpactSession = ({ overlay, armed }: Pick<State, 'overlay' | 'armed'>): string | null =>
  overlay?.kind === 'impact' ? overlay.session : armed?.binding === 'promote' ? armed.subject.id : null;

/** Returns the data for the screen beyond rows. */
export function listWantedDetails(state: State): WantedDetails {
  if (state.across?.isActive === false) return { details: [], log: null };
  if (state.overlay?.kind === 'compare') return listCompareDetails(state, state.overlay);
  const wanted = listDetailsOfSelection(state);
  const id = findImpactSession(state);
  if (id === null) return wanted;
  return {
    ...wanted,
    details: [...wanted.details, wantDetail(state.data, 'impact', { kind: 'session', id })],
  };
}

/** A race, and the diff of the shown session. */
function listCompareDetails(state: State, { task, index }: CompareRace): WantedDetails {
  const { data } = state;
  const shown = findDetail(state, 'race', task)?.detail?.sessions[index];
  const row = shown === undefined ? undefined : data.sessions.get(shown.session_id);
  const hasWork = row?.state === 'ended' && row.branch !== null && row.branch_state !== 'discarded';
  return {
    details: [
      { kind: 'race', id: task, stamp: getRaceStamp(data, task) },
      ...(hasWork ? [wantDetail(data, 'work', { kind: 'session', id: row.session_id })] : []),
    ],
    log: null,
  };
}

/** Returns a stamp that changes with a task's race. */
export function getRaceStamp(data: DashboardData, task: string): string {
  const ids = [...data.sessions.values()]
    .filter((each) => each.task_id === task && each.race !== null)
    .map((each) => `${each.session_id} ${getSubjectStamp(data, { kind: 'session', id: each.session_id })}`);
  return [getSubjectStamp(data, { kind: 'task', id: task }), ...ids].join('\n');
}

/**
 * Lists the details of the selected row, or of the marked ones while a question is about them, and the log of the
 * selected run.
 */
function listDetailsOfSelection(state: State): WantedDetails {
  const { focus, lists, overlay } = state;
  const log = focus === 'work' ? findShownLog(state) : null;
  if (overlay?.kind === 'bulk') return { details: listBulkDetails(state, overlay), log };
  const id = lists[focus].selected;
  return { details: id === null ? [] : listRowDetails(state, focus, id), log };
}

/** Lists what the previews of the rows in a question need; nothing if the rows are enough. */
export const listBulkDetails = (
  state: State,
  { pane, needsDetails }: Pick<BulkQuestion, 'pane' | 'needsDetails'>,
): WantedDetails['details'] =>
  needsDetails ? [...state.lists[pane].marks.keys()].flatMap((id) => listRowDetails(state, pane, id)) : [];

function listRowDetails(state: State, pane: PaneId, id: string): WantedDetails['details'] {
  const { data } = state;
  const item = pane === 'work' ? findWorkItem(data, id) : undefined;
  const task = item?.task?.task_id;
  switch (item?.kind) {
    case 'decision':
      return [wantDetail(data, 'decision', { kind: 'decision', id: item.decision!.decision_id })];
    case 'live':
    case 'ended':
    case 'over':
      return listRunDetails(state, item.session!);
    case 'task':
    case 'race':
      return task === undefined ? [] : [wantDetail(data, 'task', { kind: 'task', id: task })];
    default:
      return [];
  }
}

function listRunDetails(state: State, session: ShownSession): WantedDetails['details'] {
  const { data } = state;
  const { session_id: id, task_id: taskId } = session;
  const text = getRunText(state);
  // Reading a branch takes several git calls, so the branch of a running worker is only read when it is shown.
  const isWorkShown = text === 'work' || session.state === 'ended';
  const isTaskShown = text === 'task' && data.tasks.has(taskId);
  return [
    ...(isWorkShown ? [wantDetail(data, 'work', { kind: 'session', id }), wantComments(data, id)] : []),
    ...(isWorkShown || isTaskShown ? [wantDetail(data, 'evidence', { kind: 'session', id })] : []),
    // Rerunning or resuming it agrees to the prompt.
    ...(isTaskShown ||
    data.tasks.get(taskId)?.status === 'failed' ||
    session.failure !== null ||
    session.resume_at !== null
      ? [wantDetail(data, 'task', { kind: 'task', id: taskId })]
      : []),
  ];
}
