import { setImmediate as nextTurn } from 'node:timers/promises';
import { rfc3339 } from '../../core/base/clock.ts';
import { STATS_RANGE, type Storage } from '../../storage/index.ts';
import type { CountedCalls, SessionUsage } from '../../workers/sessions/index.ts';
import { computeFigures, type StatsFigures } from './figures.ts';
import { createKeptRanges } from './kept-ranges.ts';
import { type CountedSession, type CountedTask, outcomeOf, type RunOutcome } from './outcomes.ts';
import { findPercentile } from './percentile.ts';
import {
  addGroupSums,
  type CellKey,
  createCellCounter,
  createGroupSums,
  type GroupSums,
  joinTimes,
  type RangeSums,
} from './sums.ts';

/** The groupings of the figures. */
export const STATS_KINDS = ['agent', 'project', 'day'] as const;
export type StatsKind = (typeof STATS_KINDS)[number];

/** The ends on one UTC day. */
export interface StatsDay {
  /** `2026-11-21`. */
  day: string;
  created: number;
  ended: Record<Exclude<RunOutcome, 'unfinished'>, number>;
}

/** The figures of the past from the tables. */
export interface RunHistory {
  /** When the oldest counted task was created, RFC 3339; null if there is none. */
  since: string | null;
  /** Number of tasks that were removed for their age, and are not counted. */
  removed: number;
  /** Counted tasks that lists leave out. */
  archived: number;
  total: StatsFigures;
  /** The largest first; days in their order. By `day` a task belongs to the day of its end. */
  groups: StatsFigures[];
  /** Every UTC day from the first with a task to the last one. */
  days: StatsDay[];
  /** By agent the median time from the start of a session to its end, ms. */
  runMs: Map<string, number>;
}

interface TaskRow extends CountedTask {
  id: number;
  agent: string | null;
  project: string | null;
  created_at: number;
  archived_at: number | null;
}

interface SessionRow extends CountedSession {
  id: number;
  task_id: number;
  state: string;
  auth: string | null;
  agent: string;
  project: string | null;
  asked_at: number;
  decided_at: number | null;
}

/** Ranges that are read in one go, and kept ones that are added: a few milliseconds. */
const READ_AT_ONCE = 8;
const KEPT_AT_ONCE = 25;
const DAY_MS = 86_400_000;

/** UTC days by number: a date is formatted once and not for every row. */
function createDayNames(): (at: number) => string {
  const names = new Map<number, string>();
  return (at) => {
    const number = Math.floor(at / DAY_MS);
    let name = names.get(number);
    if (name === undefined) {
      name = rfc3339(at).slice(0, 10);
      names.set(number, name);
    }
    return name;
  };
}

const formatDay = createDayNames();

/** Returns what a task or session belongs to. */
const keyOf = ({
  agent,
  project,
  ended_at: endedAt,
}: {
  agent: string | null;
  project: string | null;
  ended_at: number | null;
}): CellKey => ({ agent, project, day: endedAt === null ? null : formatDay(endedAt) });

/** The calls of sessions through the gateway; their prices may change later. */
export interface StatsBooks {
  listParts(sessions: readonly number[]): readonly (CountedCalls & { session_id: number })[];
  /** Sums the calls of each model at each provider. */
  mergeParts(parts: readonly CountedCalls[]): CountedCalls[];
  /** Returns what calls have used, at the current prices; null for none. */
  describeParts(parts: readonly CountedCalls[]): SessionUsage | null;
}

/** Adds ranges of tasks, by one kind of group. */
function createHistory(by: StatsKind, describeParts: StatsBooks['describeParts']) {
  const groups = new Map<string | null, GroupSums>();
  /** By day, tasks that have not ended. */
  const rest = createGroupSums();
  const days = new Map<string, StatsDay>();
  const runTimes = new Map<string, Float64Array[]>();
  let since: number | null = null;
  let archived = 0;

  function groupOf(key: string | null): GroupSums {
    if (by === 'day' && key === null) return rest;
    const group = groups.get(key) ?? createGroupSums();
    groups.set(key, group);
    return group;
  }

  function dayOf(day: string): StatsDay {
    const found = days.get(day) ?? {
      day,
      created: 0,
      ended: { done: 0, failed: 0, denied: 0, cancelled: 0 },
    };
    days.set(day, found);
    return found;
  }

  function addRange(range: RangeSums): void {
    if (range.created.length > 0) since = Math.min(since ?? range.oldest, range.oldest);
    archived += range.archived;
    for (const [day, tasks] of range.created) dayOf(day).created += tasks;
    for (const { sums, ...key } of range.cells) {
      addGroupSums(groupOf(key[by]), sums);
      if (key.day !== null) {
        const { ended } = dayOf(key.day);
        for (const outcome of ['done', 'failed', 'denied', 'cancelled'] as const)
          ended[outcome] += sums.counts[outcome];
      }
      if (key.agent === null) continue;
      const times = runTimes.get(key.agent) ?? [];
      runTimes.set(key.agent, times);
      times.push(...sums.times.run);
    }
  }

  function finish(): Omit<RunHistory, 'removed'> {
    const total = createGroupSums();
    for (const each of [rest, ...groups.values()]) addGroupSums(total, each);
    const figures = [...groups].map(([key, sums]) => computeFigures(key, sums, describeParts));
    return {
      since: since === null ? null : rfc3339(since),
      archived,
      total: computeFigures(null, total, describeParts),
      groups:
        by === 'day'
          ? figures.sort((one, other) => String(one.key).localeCompare(String(other.key)))
          : figures.sort((one, other) => other.tasks - one.tasks || other.runs - one.runs),
      days: fillDays(days),
      runMs: new Map(
        [...runTimes].flatMap(([agent, times]) => {
          const median = findPercentile(joinTimes(times), 0.5);
          return median === null ? [] : [[agent, median]];
        }),
      ),
    };
  }

  return { addRange, finish };
}

/** Reads the history of runs. */
export interface HistoryReader {
  /** @param from Unix ms; only tasks that were created then or later */
  read(wanted: { by: StatsKind; from: number }): Promise<RunHistory>;
}

/**
 * Creates the reader. It reads in slices between which other requests are served, and keeps the sums of ranges in
 * which everything has ended.
 */
export function createHistoryReader(
  storage: Pick<Storage, 'db' | 'write'>,
  books: StatsBooks,
): HistoryReader {
  const { db } = storage;
  const keptRanges = createKeptRanges(db);
  const nextTask = db.prepare<unknown[], { id: number | null }>(
    'SELECT min(id) AS id FROM task WHERE id >= ?',
  );
  const taskSlice = db.prepare<unknown[], TaskRow>(
    `SELECT id, agent, project, status, failure_code, attempt, created_at, ended_at, archived_at FROM task
     WHERE id BETWEEN ? AND ? ORDER BY id`,
  );
  // The cross join keeps the order of the tables: by the index of the tasks' sessions.
  const sessionSlice = db.prepare<unknown[], SessionRow>(
    `SELECT s.id, s.task_id, s.agent, s.project, s.state, s.runs, s.auth, s.continues, s.started_at, s.ended_at, s.promoted_at,
       s.tokens_in, s.tokens_cached, s.tokens_out, s.cost_usd, d.created_at AS asked_at, d.decided_at,
       (SELECT f.failure_code FROM session f WHERE f.id = s.continues) AS former_failure,
       EXISTS (SELECT 1 FROM event e WHERE e.kind = 'promote_conflict' AND e.session_id = s.id) AS has_conflict
     FROM session s CROSS JOIN decision d ON d.id = s.decision_id
     WHERE s.task_id BETWEEN ? AND ? ORDER BY s.task_id, s.id`,
  );
  const removedTasks = db.prepare<unknown[], { n: number }>(
    `SELECT coalesce((SELECT max(id) FROM task), 0) - (SELECT coalesce(sum(n), 0) FROM state_count WHERE of = 'task') AS n`,
  );

  /** Reads a range of tasks, and keeps its sums if everything in it has ended. */
  function readRange(range: number, { from, keeps }: { from: number; keeps: boolean }): RangeSums {
    const [first, last] = [range * STATS_RANGE, (range + 1) * STATS_RANGE - 1];
    const all = taskSlice.all(first, last);
    const sessions = sessionSlice.all(first, last);
    const tasks = all.filter((task) => task.created_at >= from);
    const times = tasks.map((task) => task.created_at);
    const sums: RangeSums = {
      oldest: Math.min(...times),
      newest: Math.max(...times),
      archived: tasks.filter((task) => task.archived_at !== null).length,
      created: [...Map.groupBy(times, formatDay)].map(([day, { length }]) => [day, length]),
      cells: sumCells(tasks, sessions, books),
    };
    const hasEnded =
      tasks.length === all.length &&
      tasks.every((task) => outcomeOf(task) !== 'unfinished') &&
      sessions.every(({ state }) => state === 'ended');
    if (keeps && hasEnded) keptRanges.keep(range, sums);
    return sums;
  }

  /** Reads ranges in a transaction, so that no change comes between the rows and their sums. */
  const readRanges = (ranges: readonly number[], from: number): Promise<RangeSums[]> =>
    storage
      .write(() => ranges.map((range) => readRange(range, { from, keeps: true })))
      // Without space on the disk nothing is kept.
      .catch(() => ranges.map((range) => readRange(range, { from, keeps: false })));

  return {
    async read({ by, from }) {
      const removed = removedTasks.get()?.n ?? 0;
      const history = createHistory(by, books.describeParts);
      const unknown: number[] = [];
      const readUnknown = async (): Promise<void> => {
        for (const sums of await readRanges(unknown.splice(0), from)) history.addRange(sums);
      };
      for (let at = nextTask.get(0)?.id ?? null; at !== null; ) {
        const range = Math.floor(at / STATS_RANGE);
        const known = keptRanges.find(range, from);
        if (known?.sums != null) history.addRange(known.sums);
        else if (known === undefined || known.newest >= from) unknown.push(range);
        if (unknown.length === READ_AT_ONCE) await readUnknown();
        else if (range % KEPT_AT_ONCE === 0) await nextTurn();
        at = nextTask.get((range + 1) * STATS_RANGE)?.id ?? null;
      }
      if (unknown.length > 0) await readUnknown();
      return { ...history.finish(), removed };
    },
  };
}

/** Sums tasks and their sessions by agent, project and day. */
function sumCells(
  tasks: readonly TaskRow[],
  sessions: readonly SessionRow[],
  books: StatsBooks,
): RangeSums['cells'] {
  const counter = createCellCounter(books.mergeParts);
  const routed = sessions.filter(({ auth }) => auth === 'gateway').map(({ id }) => id);
  const parts = routed.length === 0 ? [] : books.listParts(routed);
  const callsOf = Map.groupBy(parts, (part) => part.session_id);
  const sessionsOf = Map.groupBy(sessions, (session) => session.task_id);
  for (const task of tasks) {
    const own = sessionsOf.get(task.id) ?? [];
    const key = keyOf(task);
    counter.addTask(key, task, {
      isPromoted: own.some(({ promoted_at: at }) => at !== null),
      isReworked: task.attempt > 1 || own.some((each) => each.has_conflict === 1 || each.continues !== null),
    });
    for (const session of own) {
      const { started_at: startedAt, ended_at: endedAt, promoted_at: promotedAt } = session;
      const place = keyOf(session);
      counter.addSession(place, session, callsOf.get(session.id) ?? []);
      if (promotedAt !== null && endedAt !== null)
        counter.addTime(place, 'toPromotion', promotedAt - endedAt);
      if (startedAt !== null && endedAt !== null) counter.addTime(place, 'run', endedAt - startedAt);
    }
    const first = own.find(({ decided_at: at }) => at !== null);
    if (first?.decided_at == null) continue;
    // A decision that was approved in advance did not wait for a person.
    if (first.decided_at > first.asked_at)
      counter.addTime(key, 'toApproval', first.decided_at - task.created_at);
    if (outcomeOf(task) !== 'unfinished' && task.ended_at !== null)
      counter.addTime(key, 'toEnd', task.ended_at - first.decided_at);
  }
  return counter.list();
}

/** Includes days without events, so that a chart of them is accurate. */
function fillDays(days: ReadonlyMap<string, StatsDay>): StatsDay[] {
  const known = [...days.keys()].sort();
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return [];
  const filled: StatsDay[] = [];
  for (let at = Date.parse(first); at <= Date.parse(last); at += DAY_MS) {
    const day = formatDay(at);
    filled.push(days.get(day) ?? { day, created: 0, ended: { done: 0, failed: 0, denied: 0, cancelled: 0 } });
  }
  return filled;
}
