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
  agent: string;
  project: string | null;
  asked_at: number;
  decided_at: number | null;
}

/** Rows per slice: a few milliseconds, and then other work gets its turn. */
const SLICE = 300;
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

/** Counts the tasks and sessions of a history. */
function createHistoryCounter(by: StatsKind, conflicts: ConflictCounts) {
  const total = createFigureCounter(null);
  const groups = new Map<string | null, FigureCounter>();
  const days = new Map<string, StatsDay>();
  const runTimes = new Map<string, number[]>();
  const keyOf = KEYS[by];
  let since: number | null = null;
  let archived = 0;

  /** Returns the counters of a row: for all, and for its group. */
  function countersOf(row: Parameters<typeof keyOf>[0]): FigureCounter[] {
    const key = keyOf(row);
    if (by === 'day' && key === null) return [total];
    const group = groups.get(key) ?? createFigureCounter(key);
    groups.set(key, group);
    return [total, group];
  }

  function dayOf(at: number): StatsDay {
    const day = formatDay(at);
    const found = days.get(day) ?? {
      day,
      created: 0,
      ended: { done: 0, failed: 0, denied: 0, cancelled: 0 },
    };
    days.set(day, found);
    return found;
  }

  function addTask(task: TaskRow, sessions: readonly SessionRow[]): void {
    since = Math.min(since ?? task.created_at, task.created_at);
    if (task.archived_at !== null) archived += 1;
    dayOf(task.created_at).created += 1;
    const outcome = outcomeOf(task);
    if (outcome !== 'unfinished' && task.ended_at !== null) dayOf(task.ended_at).ended[outcome] += 1;
    const isInConflict = sessions.some(({ id }) => conflicts.has(id));
    const marks = {
      isPromoted: sessions.some(({ promoted_at: at }) => at !== null),
      isReworked: task.attempt > 1 || isInConflict || sessions.some((each) => each.continues !== null),
    };
    const first = sessions.find(({ decided_at: at }) => at !== null);
    for (const counter of countersOf(task)) {
      counter.addTask(task, marks);
      if (first?.decided_at == null) continue;
      // A decision that was approved in advance did not wait for a person.
      if (first.decided_at > first.asked_at)
        counter.addTime('toApproval', first.decided_at - task.created_at);
      if (outcome !== 'unfinished' && task.ended_at !== null)
        counter.addTime('toEnd', task.ended_at - first.decided_at);
    }
  }

  function addSession(session: SessionRow): void {
    const { agent, started_at: startedAt, ended_at: endedAt, promoted_at: promotedAt } = session;
    for (const counter of countersOf(session)) {
      counter.addSession(session, conflicts.has(session.id));
      if (promotedAt !== null && endedAt !== null) counter.addTime('toPromotion', promotedAt - endedAt);
    }
    if (startedAt === null || endedAt === null) return;
    const times = runTimes.get(agent) ?? [];
    times.push(Math.max(0, endedAt - startedAt));
    runTimes.set(agent, times);
  }

  function finish(): Omit<RunHistory, 'removed'> {
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

  return { addTask, addSession, finish };
}

/**
 * Reads every task with its sessions and decisions, in slices between which other requests are served.
 * @param from Unix ms; only tasks that were created then or later
 */
export async function readHistory(
  { db }: Pick<Storage, 'db'>,
  { by, from, conflicts }: { by: StatsKind; from: number; conflicts: ConflictCounts },
): Promise<RunHistory> {
  const taskSlice = db.prepare<unknown[], TaskRow>(
    `SELECT id, agent, project, status, failure_code, attempt, created_at, ended_at, archived_at FROM task
     WHERE id > ? AND created_at >= ? ORDER BY id LIMIT ${SLICE}`,
  );
  // The cross join keeps the order of the tables: by the index of the tasks' sessions.
  const sessionSlice = db.prepare<unknown[], SessionRow>(
    `SELECT s.id, s.task_id, s.agent, s.project, s.runs, s.continues, s.started_at, s.ended_at, s.promoted_at,
       s.tokens_in, s.tokens_cached, s.tokens_out, s.cost_usd, d.created_at AS asked_at, d.decided_at,
       (SELECT f.failure_code FROM session f WHERE f.id = s.continues) AS former_failure
     FROM session s CROSS JOIN decision d ON d.id = s.decision_id
     WHERE s.task_id BETWEEN ? AND ? ORDER BY s.task_id, s.id`,
  );
  const removed = db
    .prepare<unknown[], { n: number }>(
      `SELECT coalesce((SELECT max(id) FROM task), 0) - (SELECT coalesce(sum(n), 0) FROM state_count WHERE of = 'task') AS n`,
    )
    .get()?.n;

  const counter = createHistoryCounter(by, conflicts);
  for (let last = 0; ; ) {
    const tasks = taskSlice.all(last, from);
    if (tasks.length === 0) break;
    const next = tasks.at(-1)!.id;
    const sessionsOf = Map.groupBy(sessionSlice.all(tasks[0]!.id, next), (session) => session.task_id);
    for (const task of tasks) {
      const sessions = sessionsOf.get(task.id) ?? [];
      counter.addTask(task, sessions);
      for (const session of sessions) counter.addSession(session);
    }
    last = next;
    await nextTurn();
  }
  return { ...counter.finish(), removed: removed ?? 0 };
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
