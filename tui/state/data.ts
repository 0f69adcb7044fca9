import type { PaneId } from '../pane-ids.ts';
import type { State } from './model.ts';
import type {
  ChoiceRows,
  DashboardData,
  EventRow,
  HeldRow,
  ListedAsk,
  ListedDelivery,
  ListedLock,
  ListedMemories,
  ListedMessage,
  ListedNotice,
  ListedStats,
  ListedUsageDay,
  PeerRow,
  RunnerRow,
  ShownDecision,
  ShownSession,
  ShownTask,
  StatusRow,
  UnreadCounts,
} from './rows.ts';
import { WINDOWS } from './windows.ts';

export const EMPTY_DATA: DashboardData = {
  tasks: new Map(),
  decisions: new Map(),
  sessions: new Map(),
  deliveries: new Map(),
  asks: new Map(),
  messages: new Map(),
  unread: { unread: 0, alerts: 0 },
  peers: [],
  locks: [],
  held: [],
  reports: new Map(),
  commented: 0,
  events: [],
  notices: [],
  usage: null,
  status: null,
  choices: null,
  memories: null,
  stats: null,
  runners: null,
  complete: false,
};

/** Panes whose rows come with the first screen. The others follow a moment later, together with `choices`. */
const FIRST_FETCHED_PANES: ReadonlySet<PaneId> = new Set(['work']);

/** Reports whether the rows of a pane have been fetched. Before that, an empty list means nothing. */
export const isPaneFetched = (pane: PaneId, { link, data }: Pick<State, 'link' | 'data'>): boolean =>
  link.phase !== 'connecting' &&
  (pane === 'memories' || pane === 'stats' || pane === 'runners'
    ? data[pane] !== null
    : FIRST_FETCHED_PANES.has(pane) || data.choices !== null);

/** Lists the tasks that wait for one of these. */
export const listFollowingTasks = (
  { tasks }: Pick<DashboardData, 'tasks'>,
  ids: ReadonlySet<string>,
): string[] =>
  [...tasks.values()].filter(({ after }) => after.some((each) => ids.has(each))).map(({ task_id: id }) => id);

/** Rows that are new or have changed, as they come from the engine. */
export interface DataChange {
  tasks?: readonly ShownTask[];
  decisions?: readonly ShownDecision[];
  sessions?: readonly ShownSession[];
  /** All of them, newest first. */
  deliveries?: readonly ListedDelivery[];
  asks?: readonly ListedAsk[];
  messages?: readonly ListedMessage[];
  unread?: UnreadCounts;
  /** All of them. */
  peers?: readonly PeerRow[];
  /** All of them. */
  locks?: readonly ListedLock[];
  /** All of them. */
  held?: readonly HeldRow[];
  events?: readonly EventRow[];
  notices?: readonly ListedNotice[];
  usage?: ListedUsageDay;
  status?: StatusRow;
  choices?: ChoiceRows;
  memories?: ListedMemories;
  stats?: ListedStats;
  /** All of them. */
  runners?: readonly RunnerRow[];
  complete?: boolean;
  /** Drops all earlier data: it belongs to a data folder that no longer exists. */
  reset?: boolean;
}

/** Merges a change into the data. `arrived` is true if something new waits for a person. */
export function applyDataChange(
  before: DashboardData,
  change: DataChange,
): { data: DashboardData; arrived: boolean } {
  const base = change.reset ? { ...EMPTY_DATA, choices: before.choices } : before;
  const data: DashboardData = {
    tasks: mergeRows(base.tasks, change.tasks, (row) => row.task_id),
    decisions: mergeRows(base.decisions, change.decisions, (row) => row.decision_id),
    sessions: mergeRows(base.sessions, change.sessions, (row) => row.session_id),
    deliveries:
      change.deliveries === undefined
        ? base.deliveries
        : new Map(change.deliveries.map((row) => [String(row.id), row])),
    asks: keepLatestAsks(mergeRows(base.asks, change.asks, (row) => String(row.id))),
    messages: keepLatestRows(
      mergeRows(base.messages, change.messages, (row) => String(row.id)),
      WINDOWS.messages.most,
    ),
    unread: change.unread ?? base.unread,
    peers: change.peers ?? base.peers,
    locks: change.locks ?? base.locks,
    held: change.held ?? base.held,
    reports: recordReports(base.reports, change.events),
    commented: Math.max(
      base.commented,
      ...(change.events ?? []).map(({ kind, seq }) => (kind.startsWith('comment_') ? seq : 0)),
    ),
    events:
      change.events === undefined
        ? base.events
        : sortEvents([...base.events, ...change.events]).slice(-WINDOWS.events.most),
    notices:
      change.notices === undefined
        ? base.notices
        : [...base.notices, ...change.notices].slice(-WINDOWS.notices.most),
    usage: change.usage ?? base.usage,
    status: change.status ?? base.status,
    choices: change.choices ?? base.choices,
    memories: change.memories ?? base.memories,
    stats: change.stats ?? base.stats,
    runners: change.runners ?? base.runners,
    complete: change.complete ?? base.complete,
  };
  const arrived =
    (change.decisions ?? []).some((row) => row.state === 'pending' && !base.decisions.has(row.decision_id)) ||
    (change.asks ?? []).some((row) => row.status === 'open' && !base.asks.has(String(row.id)));
  return { data, arrived: arrived && !change.reset };
}

function mergeRows<R>(
  before: ReadonlyMap<string, R>,
  rows: readonly R[] | undefined,
  idOf: (row: R) => string,
): ReadonlyMap<string, R> {
  if (rows === undefined || rows.length === 0) return before;
  const next = new Map(before);
  for (const row of rows) next.set(idOf(row), row);
  return next;
}

/** Keeps the `most` rows with the highest numbers. */
function keepLatestRows<R>(rows: ReadonlyMap<string, R>, most: number): ReadonlyMap<string, R> {
  if (rows.size <= most) return rows;
  const kept = [...rows.keys()].sort((one, other) => Number(other) - Number(one)).slice(0, most);
  return new Map(kept.map((id) => [id, rows.get(id)!]));
}

/** Keeps every open ask, and the latest of the closed ones. */
function keepLatestAsks(rows: DashboardData['asks']): DashboardData['asks'] {
  const { most } = WINDOWS.closedAsks;
  if (rows.size <= most) return rows;
  const isOpenEntry = ([, row]: [string, ListedAsk]): boolean => row.status === 'open';
  const closed = new Map([...rows].filter((each) => !isOpenEntry(each)));
  if (closed.size <= most) return rows;
  return new Map([...[...rows].filter(isOpenEntry), ...keepLatestRows(closed, most)]);
}

/** Remembers, for each session, the newest event about its evidence. */
function recordReports(
  before: DashboardData['reports'],
  events: readonly EventRow[] = [],
): DashboardData['reports'] {
  const told = events.filter(
    ({ kind, session_id: id }) => id !== null && /^verification_(?:reported|rerun)$/.test(kind),
  );
  if (told.length === 0) return before;
  const next = new Map(before);
  for (const { session_id: id, seq } of told) next.set(id!, Math.max(seq, next.get(id!) ?? 0));
  return next;
}

/** Sorts events and drops duplicates: a page of older events and the stream may overlap. */
const sortEvents = (events: readonly EventRow[]): EventRow[] =>
  [...new Map(events.map((event) => [event.seq, event])).values()].sort((one, other) => one.seq - other.seq);
