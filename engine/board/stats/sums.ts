import type { CountedCalls } from '../../workers/sessions/index.ts';
import { type CountedSession, type CountedTask, outcomeOf } from './outcomes.ts';

/** The numbers of a group, in the order in which they are stored. */
const COUNT_NAMES = [
  'tasks',
  'promoted',
  'reworked',
  'retries',
  'followUps',
  'resumed',
  'conflicts',
  'runs',
  'untoldTokens',
  'untoldCost',
  'done',
  'failed',
  'denied',
  'cancelled',
  'unfinished',
  'input',
  'cached',
  'output',
  'costUsd',
  'claimed',
  'counted',
] as const;
type CountName = (typeof COUNT_NAMES)[number];

const TIME_NAMES = ['toApproval', 'toEnd', 'toPromotion', 'run'] as const;
export type TimeName = (typeof TIME_NAMES)[number];

/** The sums of some tasks and sessions. */
export interface GroupSums {
  counts: Record<CountName, number>;
  /** Durations, ms, in pieces. */
  times: Record<TimeName, Float64Array[]>;
  /** Their calls through the gateway, of any price. */
  calls: CountedCalls[];
}

const createCounts = (): GroupSums['counts'] => ({
  tasks: 0,
  promoted: 0,
  reworked: 0,
  retries: 0,
  followUps: 0,
  resumed: 0,
  conflicts: 0,
  runs: 0,
  untoldTokens: 0,
  untoldCost: 0,
  done: 0,
  failed: 0,
  denied: 0,
  cancelled: 0,
  unfinished: 0,
  input: 0,
  cached: 0,
  output: 0,
  costUsd: 0,
  claimed: 0,
  counted: 0,
});

export const createGroupSums = (): GroupSums => ({
  counts: createCounts(),
  times: { toApproval: [], toEnd: [], toPromotion: [], run: [] },
  calls: [],
});

export function addGroupSums({ counts, times, calls }: GroupSums, other: GroupSums): void {
  for (const each of other.calls) calls.push(each);
  for (const name of COUNT_NAMES) counts[name] += other.counts[name];
  for (const name of TIME_NAMES) for (const piece of other.times[name]) times[name].push(piece);
}

export function joinTimes(pieces: readonly Float64Array[]): Float64Array {
  const joined = new Float64Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/** The group of a task or session in the statistics. `day` is the UTC day of its end; null before. */
export interface CellKey {
  agent: string | null;
  project: string | null;
  day: string | null;
}

/** The sums of those with the same agent, project and day. */
export interface Cell extends CellKey {
  sums: GroupSums;
}

/** The sums of a range of tasks, and of their sessions. */
export interface RangeSums {
  /** The earliest and latest creation of its tasks, Unix ms. */
  oldest: number;
  newest: number;
  archived: number;
  /** How many tasks were created on a UTC day. */
  created: [day: string, tasks: number][];
  cells: Cell[];
}

interface OpenCell {
  key: CellKey;
  counts: GroupSums['counts'];
  times: Record<TimeName, number[]>;
  calls: CountedCalls[];
}

/** Sums tasks and sessions by their cells. */
export function createCellCounter(mergeCalls: (calls: readonly CountedCalls[]) => CountedCalls[]) {
  const cells = new Map<string, OpenCell>();

  function openCell(key: CellKey): OpenCell {
    const name = JSON.stringify([key.agent, key.project, key.day]);
    let cell = cells.get(name);
    if (cell === undefined) {
      cell = {
        key,
        counts: createCounts(),
        times: { toApproval: [], toEnd: [], toPromotion: [], run: [] },
        calls: [],
      };
      cells.set(name, cell);
    }
    return cell;
  }

  return {
    addTask(key: CellKey, task: CountedTask, marks: { isPromoted: boolean; isReworked: boolean }): void {
      const { counts } = openCell(key);
      counts.tasks += 1;
      counts.retries += task.attempt - 1;
      counts[outcomeOf(task)] += 1;
      if (marks.isPromoted) counts.promoted += 1;
      if (marks.isReworked) counts.reworked += 1;
    },
    addSession(key: CellKey, session: CountedSession, made: readonly CountedCalls[]): void {
      const { counts, calls } = openCell(key);
      if (session.has_conflict === 1) counts.conflicts += 1;
      if (session.continues !== null) {
        if (session.former_failure === null) counts.followUps += 1;
        else counts.resumed += 1;
      }
      if (session.runs === 0) return;
      counts.runs += 1;
      for (const each of made) calls.push(each);
      if (made.length > 0) counts.counted += 1;
      else if (session.tokens_in === null) counts.untoldTokens += 1;
      if (session.tokens_in !== null) counts.claimed += 1;
      counts.input += session.tokens_in ?? 0;
      counts.cached += session.tokens_cached ?? 0;
      counts.output += session.tokens_out ?? 0;
      if (made.length === 0 && session.cost_usd === null) counts.untoldCost += 1;
      counts.costUsd += session.cost_usd ?? 0;
    },
    /** Adds a duration, ms. A clock that was set back makes it 0. */
    addTime: (key: CellKey, name: TimeName, ms: number): void =>
      void openCell(key).times[name].push(Math.max(0, ms)),
    list: (): Cell[] =>
      [...cells.values()].map(({ key, counts, times, calls }) => ({
        ...key,
        sums: {
          counts,
          times: {
            toApproval: [Float64Array.from(times.toApproval)],
            toEnd: [Float64Array.from(times.toEnd)],
            toPromotion: [Float64Array.from(times.toPromotion)],
            run: [Float64Array.from(times.run)],
          },
          calls: mergeCalls(calls),
        },
      })),
  };
}

type StoredCell = [
  agent: string | null,
  project: string | null,
  day: string | null,
  counts: number[],
  lengths: number[],
  calls: readonly CountedCalls[],
];

/** Writes the sums of a range as JSON and numbers. */
export function encodeRange({ archived, created, cells }: RangeSums): { sums: string; times: Buffer } {
  const pieces = cells.flatMap(({ sums }) => TIME_NAMES.map((name) => joinTimes(sums.times[name])));
  const stored = cells.map(
    ({ agent, project, day, sums }): StoredCell => [
      agent,
      project,
      day,
      COUNT_NAMES.map((name) => sums.counts[name]),
      TIME_NAMES.map((name) => joinTimes(sums.times[name]).length),
      sums.calls,
    ],
  );
  return {
    sums: JSON.stringify({ archived, created, cells: stored }),
    times: Buffer.from(joinTimes(pieces).buffer),
  };
}

/** Reads what `encodeRange` has written. */
export function decodeRange(stored: {
  oldest: number;
  newest: number;
  sums: string;
  times: Buffer;
}): RangeSums {
  const { archived, created, cells } = JSON.parse(stored.sums) as Pick<RangeSums, 'archived' | 'created'> & {
    cells: StoredCell[];
  };
  const { buffer, byteOffset, byteLength } = stored.times;
  const all = new Float64Array(buffer.slice(byteOffset, byteOffset + byteLength));
  let at = 0;
  const take = (length = 0): Float64Array[] => {
    at += length;
    return [all.subarray(at - length, at)];
  };
  return {
    oldest: stored.oldest,
    newest: stored.newest,
    archived,
    created,
    cells: cells.map(([agent, project, day, numbers, lengths, calls]) => {
      const counts = createCounts();
      for (const [index, name] of COUNT_NAMES.entries()) counts[name] = numbers[index] ?? 0;
      const [toApproval, toEnd, toPromotion, run] = lengths;
      return {
        ...{ agent, project, day },
        sums: {
          counts,
          times: {
            toApproval: take(toApproval),
            toEnd: take(toEnd),
            toPromotion: take(toPromotion),
            run: take(run),
          },
          calls: [...calls],
        },
      };
    }),
  };
}
