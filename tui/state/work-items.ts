import { workLeftBy } from '../../engine/index.ts';
import { parseIdNumber } from './numbers.ts';
import type { DashboardData, ListedAsk, ShownDecision, ShownSession, ShownTask } from './rows.ts';

/** The sections of the list of work, by what each asks of the person. */
export const WORK_SECTIONS = ['needs you', 'running', 'waiting', 'done'] as const;
const [NEEDS_YOU, RUNNING, WAITING, DONE] = [0, 1, 2, 3] as const;

/** The object that keys act on in a row: its question, its pending decision, its race, its run, or the task itself. */
export type WorkKind = 'ask' | 'decision' | 'race' | 'live' | 'ended' | 'over' | 'task';

/** A row of the list of work: a task with its current run, decision and question. */
export interface WorkItem {
  /** Id of the task; of the session for any other run; `ask-31` for a question without a task. */
  id: string;
  kind: WorkKind;
  /** Index into `WORK_SECTIONS`. */
  section: number;
  /** The place in the section; the smallest comes first. */
  rank: readonly number[];
  task: ShownTask | null;
  session: ShownSession | null;
  decision: ShownDecision | null;
  ask: ListedAsk | null;
}

export const isLiveSession = (session: ShownSession): boolean => session.state !== 'ended';

/** Reports whether a finished run has unreviewed work: commits, or unreadable work, on an unmerged branch. */
export const isWaitingForReview = (session: ShownSession): boolean =>
  !isLiveSession(session) &&
  session.failure === null &&
  session.branch !== null &&
  ['some', 'unreadable'].includes(workLeftBy(session)) &&
  session.promoted_at === null &&
  session.branch_state === null;

type WorkData = Pick<DashboardData, 'tasks' | 'sessions' | 'decisions' | 'asks'>;

/** The row of each object, and all rows once they have been listed. */
interface WorkIndex extends WorkData {
  sessionsByTask: ReadonlyMap<string, readonly ShownSession[]>;
  decisionByTask: ReadonlyMap<string, ShownDecision>;
  /** By session, by task, or `ask-31` if neither is known. */
  askByOwner: ReadonlyMap<string, ListedAsk>;
  items: readonly WorkItem[] | null;
}

// Rows are immutable, and other data changes more often than they do.
const indexCache = new WeakMap<DashboardData['sessions'], WorkIndex>();

function getIndex(data: WorkData): WorkIndex {
  const known = indexCache.get(data.sessions);
  if (known?.tasks === data.tasks && known.decisions === data.decisions && known.asks === data.asks)
    return known;
  const index = makeIndex(data);
  indexCache.set(data.sessions, index);
  return index;
}

export const nameAskRow = ({ id }: Pick<ListedAsk, 'id'>): string => `ask-${id}`;

function makeIndex({ tasks, sessions, decisions, asks }: WorkData): WorkIndex {
  const sessionsByTask = new Map<string, ShownSession[]>();
  for (const session of sessions.values()) {
    const same = sessionsByTask.get(session.task_id);
    if (same === undefined) sessionsByTask.set(session.task_id, [session]);
    else same.push(session);
  }
  const decisionByTask = new Map<string, ShownDecision>();
  for (const decision of decisions.values())
    if (decision.state === 'pending') decisionByTask.set(decision.task_id, decision);
  const askByOwner = new Map<string, ListedAsk>();
  for (const ask of asks.values()) {
    if (ask.status !== 'open') continue;
    const { from_session: from, task_id: task } = ask;
    const owner =
      from !== null && sessions.has(from)
        ? from
        : task !== null && tasks.get(task)?.archived_at === null
          ? task
          : nameAskRow(ask);
    const other = askByOwner.get(owner);
    if (other === undefined || ask.expires_at < other.expires_at) askByOwner.set(owner, ask);
  }
  return { tasks, sessions, decisions, asks, sessionsByTask, decisionByTask, askByOwner, items: null };
}

/** Finds the current run of a task; the last known one if the task names none or has not been fetched. */
function findCurrentRun(
  data: WorkData,
  index: WorkIndex,
  id: string,
  task: ShownTask | null,
): ShownSession | null {
  if (task !== null && task.race !== null) return null;
  if (task !== null && task.session_id !== null) return data.sessions.get(task.session_id) ?? null;
  const all = index.sessionsByTask.get(id) ?? [];
  return all.reduce<ShownSession | null>(
    (last, each) =>
      last === null || parseIdNumber(each.session_id) > parseIdNumber(last.session_id) ? each : last,
    null,
  );
}

/** Codes of failures that a person chose, so they ask nothing of a person. */
const OWN_FAILURES: ReadonlySet<string> = new Set(['cancelled', 'denied', 'killed']);

const needsCheck = (failure: { code: string } | null): boolean =>
  failure !== null && !OWN_FAILURES.has(failure.code);

const getEnd = ({
  ended_at: end,
  created_at: start,
}: {
  ended_at: string | null;
  created_at: string;
}): number => Date.parse(end ?? start);

type Place = Pick<WorkItem, 'kind' | 'section' | 'rank'>;

const placeAsk = (ask: ListedAsk): Place => ({
  kind: 'ask',
  section: NEEDS_YOU,
  rank: [0, Date.parse(ask.expires_at)],
});

/** @param isCurrent false for a run that its task no longer depends on */
function placeRun(session: ShownSession, isCurrent: boolean): Place {
  const number = parseIdNumber(session.task_id);
  if (isLiveSession(session))
    return session.state === 'queued'
      ? { kind: 'live', section: WAITING, rank: [0, number] }
      : { kind: 'live', section: RUNNING, rank: [0, number] };
  if (isWaitingForReview(session)) return { kind: 'ended', section: NEEDS_YOU, rank: [3, number] };
  const isFailed = isCurrent && needsCheck(session.failure) && session.branch_state !== 'discarded';
  return isFailed
    ? { kind: 'ended', section: NEEDS_YOU, rank: [4, -getEnd(session)] }
    : { kind: isOver(session) ? 'over' : 'ended', section: DONE, rank: [-getEnd(session)] };
}

/** Reports whether nothing is left to promote, discard or restore. */
const isOver = ({ worktree, branch_state: branch }: ShownSession): boolean =>
  worktree === null && branch !== null && branch !== 'discarded';

/** Lists the sessions of a race that the list has, in the order of its agents. */
export const listRacers = (data: DashboardData, race: number): ShownSession[] =>
  [...data.sessions.values()]
    .filter((each) => each.race === race)
    .sort((one, other) => parseIdNumber(one.session_id) - parseIdNumber(other.session_id));

/** Reports whether every run of a race has ended, so that one can be picked. */
export const isRaceOver = (data: DashboardData, race: number): boolean =>
  listRacers(data, race).every((each) => each.state === 'ended');

function placeTask(data: DashboardData, task: ShownTask): Place {
  const number = parseIdNumber(task.task_id);
  if (task.race !== null)
    return isRaceOver(data, task.race)
      ? { kind: 'race', section: NEEDS_YOU, rank: [2, number] }
      : { kind: 'race', section: RUNNING, rank: [0, number] };
  switch (task.status) {
    case 'failed':
      return needsCheck(task.failure)
        ? { kind: 'task', section: NEEDS_YOU, rank: [4, -getEnd(task)] }
        : { kind: 'task', section: DONE, rank: [-getEnd(task)] };
    case 'done':
      return { kind: 'task', section: DONE, rank: [-getEnd(task)] };
    case 'running':
      return { kind: 'task', section: RUNNING, rank: [0, number] };
    default:
      return { kind: 'task', section: WAITING, rank: [1, number] };
  }
}

// Most tasks stay the same from one change to the next, so their rows are kept.
const rowCache = new WeakMap<ShownTask, WorkItem>();

/** Describes the row of a task. */
function describeTaskRow(data: DashboardData, index: WorkIndex, id: string): WorkItem | undefined {
  const task = data.tasks.get(id) ?? null;
  const session = findCurrentRun(data, index, id, task);
  const decision = index.decisionByTask.get(id) ?? null;
  const ask = findAsk(index, session?.session_id ?? id, id);
  const known = task === null ? undefined : rowCache.get(task);
  if (
    known?.kind !== 'race' &&
    known?.session === session &&
    known.decision === decision &&
    known.ask === ask
  )
    return known;
  const row = { id, task, session, decision, ask };
  const place = placeTaskRow(data, row);
  if (place === undefined) return undefined;
  const item = { ...row, ...place };
  if (task !== null) rowCache.set(task, item);
  return item;
}

/** Finds the open question of a session or its task whose time ends first. */
function findAsk({ askByOwner }: WorkIndex, session: string, task: string): ListedAsk | null {
  if (askByOwner.size === 0) return null;
  const [one, other] = [askByOwner.get(session), askByOwner.get(task)];
  if (one === undefined || other === undefined) return one ?? other ?? null;
  return other.expires_at < one.expires_at ? other : one;
}

function placeTaskRow(
  data: DashboardData,
  { task, session, decision, ask }: Pick<WorkItem, 'task' | 'session' | 'decision' | 'ask'>,
): Place | undefined {
  if (ask !== null) return placeAsk(ask);
  if (decision !== null)
    return { kind: 'decision', section: NEEDS_YOU, rank: [1, parseIdNumber(decision.decision_id)] };
  // A failed run may have been made good by hand.
  if (session !== null && !(task?.status === 'done' && session.failure !== null))
    return placeRun(session, task === null || task.status === 'failed');
  return task === null ? undefined : placeTask(data, task);
}

/** Describes the row of a run that is not its task's current one: in a race, or an earlier one. */
function describeRunRow(data: DashboardData, index: WorkIndex, session: ShownSession): WorkItem {
  const task = data.tasks.get(session.task_id) ?? null;
  const ask = index.askByOwner.get(session.session_id) ?? null;
  const row = { id: session.session_id, task, session, decision: null, ask };
  if (ask !== null) return { ...row, ...placeAsk(ask) };
  const own = placeRun(session, false);
  if (task === null || task.race === null || task.race !== session.race) return { ...row, ...own };
  // The runs of a race follow its task.
  const { section, rank } = placeTask(data, task);
  return { ...row, kind: own.kind, section, rank: [...rank, parseIdNumber(session.session_id)] };
}

const describeAskRow = (ask: ListedAsk): WorkItem => ({
  id: nameAskRow(ask),
  task: null,
  session: null,
  decision: null,
  ask,
  ...placeAsk(ask),
});

/** Finds a row by its id. */
export function findWorkItem(data: DashboardData, id: string): WorkItem | undefined {
  const index = getIndex(data);
  if (id.startsWith('s-')) {
    const session = data.sessions.get(id);
    return session === undefined ? undefined : describeRunRow(data, index, session);
  }
  if (id.startsWith('t-')) return describeTaskRow(data, index, id);
  const ask = index.askByOwner.get(id);
  return ask === undefined ? undefined : describeAskRow(ask);
}

/** Reports whether a run besides its task's current one still has something to read, promote or restore. */
const isListedRun = (session: ShownSession): boolean =>
  session.branch_state !== 'continued' &&
  (isLiveSession(session) || session.worktree !== null || session.branch_state === 'discarded');

/** Lists the rows of a race or of earlier runs, and the ones of tasks that have not been fetched. */
function listOtherRows(data: DashboardData, index: WorkIndex): WorkItem[] {
  const rows: WorkItem[] = [];
  const unknown = new Set<string>();
  for (const session of data.sessions.values()) {
    const { session_id: id, task_id: taskId } = session;
    const task = data.tasks.get(taskId) ?? null;
    if (task === null) unknown.add(taskId);
    if (task !== null && task.archived_at !== null) continue;
    if (findCurrentRun(data, index, taskId, task) === session) continue;
    if (isListedRun(session) || isWaitingForReview(session) || index.askByOwner.has(id))
      rows.push(describeRunRow(data, index, session));
  }
  for (const id of index.decisionByTask.keys()) if (!data.tasks.has(id)) unknown.add(id);
  for (const id of unknown) rows.push(...[describeTaskRow(data, index, id) ?? []].flat());
  for (const [owner, ask] of index.askByOwner) if (owner.startsWith('ask-')) rows.push(describeAskRow(ask));
  return rows;
}

/** Compares rows by section and urgency. */
export function compareItems(one: WorkItem, other: WorkItem): number {
  if (one.section !== other.section) return one.section - other.section;
  for (let at = 0; at < Math.max(one.rank.length, other.rank.length); at += 1) {
    const by = (one.rank[at] ?? -1) - (other.rank[at] ?? -1);
    if (by !== 0) return by;
  }
  return parseRowNumber(other) - parseRowNumber(one);
}

const parseRowNumber = ({ id }: WorkItem): number => parseIdNumber(id) || 0;

/** Lists all rows, by section: the most urgent question first, ended tasks last. */
export function listWorkItems(data: DashboardData): readonly WorkItem[] {
  const index = getIndex(data);
  if (index.items !== null) return index.items;
  const rows = listOtherRows(data, index);
  for (const task of data.tasks.values())
    if (task.archived_at === null) rows.push(describeTaskRow(data, index, task.task_id)!);
  const sections = WORK_SECTIONS.map((): WorkItem[] => []);
  for (const row of rows) sections[row.section]!.push(row);
  index.items = sections.flatMap((section) => section.sort(compareItems));
  return index.items;
}

/** Lists the rows that need a person, the most urgent one first. */
export function listUrgentItems(data: DashboardData): readonly WorkItem[] {
  const all = listWorkItems(data);
  const end = all.findIndex(({ section }) => section !== NEEDS_YOU);
  return end < 0 ? all : all.slice(0, end);
}

/** Counts the rows that are not done: that need a person, run or wait. */
export function countOpenItems(data: DashboardData): number {
  const all = listWorkItems(data);
  const end = all.findIndex(({ section }) => section === DONE);
  return end < 0 ? all.length : end;
}

/** Returns the row that shows a session. */
export function findRowOfSession(data: DashboardData, id: string): string {
  const session = data.sessions.get(id);
  if (session === undefined) return id;
  const task = data.tasks.get(session.task_id) ?? null;
  const current = findCurrentRun(data, getIndex(data), session.task_id, task);
  return current === session || (task?.race == null && !isListedRun(session)) ? session.task_id : id;
}
