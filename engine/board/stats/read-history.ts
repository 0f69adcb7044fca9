import { setImmediate as nextTurn } from 'node:timers/promises';
import { rfc3339 } from '../../core/base/clock.ts';
import type { Storage } from '../../storage/index.ts';
import type { ConflictCounts } from './conflicts.ts';
import {
  type CountedSession,
  type CountedTask,
  createFigureCounter,
  type FigureCounter,
  findPercentile,
  outcomeOf,
  type RunOutcome,
  type StatsFigures,
} from './figures.ts';

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
  agent: string;
  project: string | null;
  asked_at: number;
  decided_at: number | null;
}

/** Rows per slice: a few milliseconds, and then other work gets its turn. */
const SLICE = 300;
/** Sums are kept for this long after the last question: they take about 50 bytes a task and grouping. */
const KEPT_MS = 10 * 60_000;
/** Kept slices that are added in one go. */
const KEPT_AT_ONCE = 50;
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

/** Returns the group name of a row. */
const KEYS: Readonly<
  Record<
    StatsKind,
    (row: { agent: string | null; project: string | null; ended_at: number | null }) => string | null
  >
> = {
  agent: ({ agent }) => agent,
  project: ({ project }) => project,
  day: ({ ended_at: endedAt }) => (endedAt === null ? null : formatDay(endedAt)),
};

/** The sums of some tasks and their sessions. */
type HistoryCounter = ReturnType<typeof createHistoryCounter>;

/** Counts tasks and sessions, by one kind of group. */
function createHistoryCounter(by: StatsKind, conflicts: ConflictCounts) {
  const groups = new Map<string | null, FigureCounter>();
  /** Rows without a group: by day, tasks that have not ended. */
  const rest = createFigureCounter(null);
  const days = new Map<string, StatsDay>();
  const runTimes = new Map<string, number[]>();
  const keyOf = KEYS[by];
  let since: number | null = null;
  let archived = 0;

  function groupOf(key: string | null): FigureCounter {
    const group = groups.get(key) ?? createFigureCounter(key);
    groups.set(key, group);
    return group;
  }

  function counterOf(row: Parameters<typeof keyOf>[0]): FigureCounter {
    const key = keyOf(row);
    return by === 'day' && key === null ? rest : groupOf(key);
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

  function timesOf(agent: string): number[] {
    const times = runTimes.get(agent) ?? [];
    runTimes.set(agent, times);
    return times;
  }

  function addTask(task: TaskRow, sessions: readonly SessionRow[]): void {
    since = Math.min(since ?? task.created_at, task.created_at);
    if (task.archived_at !== null) archived += 1;
    dayOf(formatDay(task.created_at)).created += 1;
    const outcome = outcomeOf(task);
    if (outcome !== 'unfinished' && task.ended_at !== null)
      dayOf(formatDay(task.ended_at)).ended[outcome] += 1;
    const isInConflict = sessions.some(({ id }) => conflicts.has(id));
    const counter = counterOf(task);
    counter.addTask(task, {
      isPromoted: sessions.some(({ promoted_at: at }) => at !== null),
      isReworked: task.attempt > 1 || isInConflict || sessions.some((each) => each.continues !== null),
    });
    const first = sessions.find(({ decided_at: at }) => at !== null);
    if (first?.decided_at == null) return;
    // A decision that was approved in advance did not wait for a person.
    if (first.decided_at > first.asked_at) counter.addTime('toApproval', first.decided_at - task.created_at);
    if (outcome !== 'unfinished' && task.ended_at !== null)
      counter.addTime('toEnd', task.ended_at - first.decided_at);
  }

  function addSession(session: SessionRow): void {
    const { agent, started_at: startedAt, ended_at: endedAt, promoted_at: promotedAt } = session;
    const counter = counterOf(session);
    counter.addSession(session, conflicts.has(session.id));
    if (promotedAt !== null && endedAt !== null) counter.addTime('toPromotion', promotedAt - endedAt);
    if (startedAt !== null && endedAt !== null) timesOf(agent).push(Math.max(0, endedAt - startedAt));
  }

  /** Adds what another counter has counted. */
  function addCounter({ sums }: HistoryCounter): void {
    const { since: oldest, archived: more } = sums();
    if (oldest !== null) since = Math.min(since ?? oldest, oldest);
    archived += more;
    rest.addSums(sums().rest);
    for (const [key, group] of sums().groups) groupOf(key).addSums(group);
    for (const { day, created, ended } of sums().days.values()) {
      const sum = dayOf(day);
      sum.created += created;
      for (const outcome of ['done', 'failed', 'denied', 'cancelled'] as const)
        sum.ended[outcome] += ended[outcome];
    }
    for (const [agent, times] of sums().runTimes) {
      const all = timesOf(agent);
      for (const ms of times) all.push(ms);
    }
  }

  function finish(): Omit<RunHistory, 'removed'> {
    const total = createFigureCounter(null);
    for (const each of [rest, ...groups.values()]) total.addSums(each);
    const figures = [...groups.values()].map((group) => group.figures());
    return {
      since: since === null ? null : rfc3339(since),
      archived,
      total: total.figures(),
      groups:
        by === 'day'
          ? figures.sort((one, other) => String(one.key).localeCompare(String(other.key)))
          : figures.sort((one, other) => other.tasks - one.tasks || other.runs - one.runs),
      days: fillDays(days),
      runMs: new Map(
        [...runTimes].map(([agent, times]) => [agent, findPercentile(Float64Array.from(times).sort(), 0.5)!]),
      ),
    };
  }

  return {
    addTask,
    addSession,
    addCounter,
    finish,
    sums: () => ({ since, archived, rest, groups, days, runTimes }),
  };
}

/** The sums of a range of tasks that have ended. */
interface KeptRange {
  counter: HistoryCounter;
  /** The earliest and latest creation of its tasks, Unix ms. */
  oldest: number;
  newest: number;
}

/**
 * Reads the history of runs. The sums of ranges in which everything has ended are kept in memory for some minutes,
 * because their rows hardly ever change.
 */
export interface HistoryReader {
  /** @param from Unix ms; only tasks that were created then or later */
  read(wanted: { by: StatsKind; from: number }): Promise<RunHistory>;
  /** Forgets what is kept of these tasks, which have changed. */
  forget(tasks: Iterable<number>): void;
}

/** Creates the reader. It reads in slices between which other requests are served. */
export function createHistoryReader({ db }: Pick<Storage, 'db'>, conflicts: ConflictCounts): HistoryReader {
  const nextTask = db.prepare<unknown[], { id: number | null }>(
    'SELECT min(id) AS id FROM task WHERE id >= ?',
  );
  const taskSlice = db.prepare<unknown[], TaskRow>(
    `SELECT id, agent, project, status, failure_code, attempt, created_at, ended_at, archived_at FROM task
     WHERE id BETWEEN ? AND ? ORDER BY id`,
  );
  // The cross join keeps the order of the tables: by the index of the tasks' sessions.
  const sessionSlice = db.prepare<unknown[], SessionRow>(
    `SELECT s.id, s.task_id, s.agent, s.project, s.state, s.runs, s.continues, s.started_at, s.ended_at, s.promoted_at,
       s.tokens_in, s.tokens_cached, s.tokens_out, s.cost_usd, d.created_at AS asked_at, d.decided_at,
       (SELECT f.failure_code FROM session f WHERE f.id = s.continues) AS former_failure
     FROM session s CROSS JOIN decision d ON d.id = s.decision_id
     WHERE s.task_id BETWEEN ? AND ? ORDER BY s.task_id, s.id`,
  );
  const removedTasks = db.prepare<unknown[], { n: number }>(
    `SELECT coalesce((SELECT max(id) FROM task), 0) - (SELECT coalesce(sum(n), 0) FROM state_count WHERE of = 'task') AS n`,
  );
  const kept = new Map(STATS_KINDS.map((kind) => [kind, new Map<number, KeptRange>()]));
  let removed = 0;

  /** Reads a range of ids; returns its sums, and whether everything in it has ended. */
  function readRange(range: number, { by, from }: { by: StatsKind; from: number }) {
    const [first, last] = [range * SLICE, (range + 1) * SLICE - 1];
    const tasks = taskSlice.all(first, last);
    const sessions = sessionSlice.all(first, last);
    const sessionsOf = Map.groupBy(sessions, (session) => session.task_id);
    const counter = createHistoryCounter(by, conflicts);
    for (const task of tasks) {
      if (task.created_at < from) continue;
      const own = sessionsOf.get(task.id) ?? [];
      counter.addTask(task, own);
      for (const session of own) counter.addSession(session);
    }
    const hasEnded =
      tasks.every((task) => outcomeOf(task) !== 'unfinished') &&
      sessions.every(({ state }) => state === 'ended');
    const times = tasks.map((task) => task.created_at);
    return { counter, hasEnded, oldest: Math.min(...times), newest: Math.max(...times) };
  }

  let forgetting: NodeJS.Timeout | undefined;
  function keepForNow(): void {
    clearTimeout(forgetting);
    forgetting = setTimeout(forgetAll, KEPT_MS).unref();
  }

  function forgetAll(): void {
    for (const ranges of kept.values()) ranges.clear();
  }

  return {
    async read(wanted) {
      const { by, from } = wanted;
      keepForNow();
      const now = removedTasks.get()?.n ?? 0;
      if (now !== removed) forgetAll();
      removed = now;
      const ranges = kept.get(by)!;
      const history = createHistoryCounter(by, conflicts);
      for (let at = nextTask.get(0)?.id ?? null; at !== null; ) {
        const range = Math.floor(at / SLICE);
        const known = ranges.get(range);
        if (known !== undefined && known.oldest >= from) history.addCounter(known.counter);
        else if (known === undefined || known.newest >= from) {
          const { hasEnded, ...found } = readRange(range, wanted);
          history.addCounter(found.counter);
          if (hasEnded && found.oldest >= from) ranges.set(range, found);
        }
        if (known === undefined || range % KEPT_AT_ONCE === 0) await nextTurn();
        at = nextTask.get((range + 1) * SLICE)?.id ?? null;
      }
      return { ...history.finish(), removed: now };
    },
    forget(tasks) {
      for (const task of tasks) for (const ranges of kept.values()) ranges.delete(Math.floor(task / SLICE));
    },
  };
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
