import type { Data, DetailKind, LoadedDetail, State, Subject } from './model.ts';
import { isWideScreen } from './size.ts';

/** How many details are kept. Enough to go back and forth; each may hold a whole patch. */
const MOST_DETAILS = 20;

export function findDetail<K extends DetailKind>(
  state: State,
  kind: K,
  id: string,
): LoadedDetail<K> | undefined {
  return state.details.find((each) => each.kind === kind && each.id === id) as LoadedDetail<K> | undefined;
}

export const addDetail = (details: readonly LoadedDetail[], loaded: LoadedDetail): readonly LoadedDetail[] =>
  [loaded, ...details.filter((each) => each.kind !== loaded.kind || each.id !== loaded.id)].slice(
    0,
    MOST_DETAILS,
  );

/** Drops details about work in a repository whose branches have moved. */
export const dropWorkDetails = (
  details: readonly LoadedDetail[],
  data: Data,
  repository: string,
): readonly LoadedDetail[] =>
  details.filter(({ kind, id }) => kind !== 'work' || data.sessions.get(id)?.repository !== repository);

/** A stamp that changes whenever a detail or an armed question about a subject goes out of date. Empty if it is gone. */
export function getSubjectStamp(data: Data, { kind, id }: Subject): string {
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
      } = session;
      return [state, stop, resume, head, promoted, data.reports.get(id)].join(' ');
    }
    case 'lock': {
      const lock = data.locks.find((each) => each.path === id);
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
  }
}

/** What the preview of a worker shows: its work while a question is about it, or while the log has its own box. */
export const getWorkersMode = (state: State): State['workers'] =>
  ['promote', 'rerun', 'resume', 'retry'].includes(state.armed?.binding ?? '') ||
  (isWideScreen(state.size) && state.view === 'list')
    ? 'work'
    : state.workers;

/** What the screen shows beyond rows, and must be fetched. */
export interface WantedDetails {
  details: readonly { kind: DetailKind; id: string; stamp: string }[];
  /** The session whose log is followed. */
  log: string | null;
}

const wantDetail = (data: Data, kind: DetailKind, subject: Subject): WantedDetails['details'][number] => ({
  kind,
  id: subject.id,
  stamp: getSubjectStamp(data, subject),
});

/** Whether the screen shows what workers do. */
export const isShowingWorkers = ({ focus, size }: Pick<State, 'focus' | 'size'>): boolean =>
  focus === 'workers' || isWideScreen(size);

/** The details of the selected row, and the log of the selected worker if it is visible. */
export function listWantedDetails(state: State): WantedDetails {
  const { data, focus, lists } = state;
  const log = isShowingWorkers(state) ? lists.workers.selected : null;
  const id = lists[focus].selected;
  if (id === null) return { details: [], log };
  if (focus === 'tasks') {
    const session = data.tasks.get(id)?.session_id ?? null;
    const evidence = session === null ? [] : [wantDetail(data, 'evidence', { kind: 'session', id: session })];
    return { details: [wantDetail(data, 'task', { kind: 'task', id }), ...evidence], log };
  }
  if (focus === 'decisions')
    return { details: [wantDetail(data, 'decision', { kind: 'decision', id })], log };
  return { details: focus === 'workers' ? listWorkerDetails(state, id) : [], log };
}

function listWorkerDetails(state: State, id: string): WantedDetails['details'] {
  const { data } = state;
  const session = data.sessions.get(id);
  if (session === undefined) return [];
  // Reading a branch takes several git calls, so that of a running worker is read only when it is shown.
  const isWorkShown = getWorkersMode(state) === 'work' || session.state === 'ended';
  const task = data.tasks.get(session.task_id);
  return [
    ...(isWorkShown
      ? [
          wantDetail(data, 'work', { kind: 'session', id }),
          wantDetail(data, 'evidence', { kind: 'session', id }),
        ]
      : []),
    // The prompt is what running it again, or resuming it, agrees to.
    ...(task?.status === 'failed' || session.failure !== null || session.resume_at !== null
      ? [wantDetail(data, 'task', { kind: 'task', id: session.task_id })]
      : []),
  ];
}
