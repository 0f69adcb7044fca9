import { type Clock, rfc3339 } from '../../core/base/clock.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import { estimateQueueEnd, type LiveRun } from './estimate-queue.ts';
import { createHistoryReader, type RunHistory, type StatsBooks, type StatsKind } from './read-history.ts';

/** Statistics of the workspace, from all of its stored rows. */
export interface StatsReport extends Omit<RunHistory, 'runMs'> {
  by: StatsKind;
  /** When it was counted, RFC 3339. */
  at: string;
  /** When the event log starts, RFC 3339: earlier conflicts are unknown. */
  eventsSince: string | null;
  queue: {
    running: number;
    waiting: number;
    /** Waiting for a time, not for a free worker. */
    paused: number;
    cap: number;
    /** When all of them except paused ones have ended, RFC 3339; null if that is unknown. */
    endsAt: string | null;
  };
}

export interface Stats {
  /** @param from Unix ms; only tasks that were created then or later */
  read(wanted: { by: StatsKind; from: number }): Promise<StatsReport>;
}

interface LiveRow {
  agent: string;
  state: string;
  resume_at: number | null;
  run_started_at: number | null;
}

/** Owns the statistics, which are computed from rows; the sums of earlier rows are kept in the database. */
export function createStats({
  storage,
  events,
  clock,
  books,
  cap,
}: {
  storage: Pick<Storage, 'db' | 'write'>;
  events: Pick<EventLog, 'lastSeq'>;
  clock: Clock;
  books: StatsBooks;
  /** Maximum number of concurrent workers. */
  cap: number;
}): Stats {
  const firstEvent = storage.db.prepare<unknown[], { at: number }>(
    'SELECT at FROM event ORDER BY seq LIMIT 1',
  );
  const live = storage.db.prepare<unknown[], LiveRow>(
    `SELECT agent, state, resume_at, run_started_at FROM session WHERE state <> 'ended' ORDER BY priority DESC, +id`,
  );
  const reader = createHistoryReader(storage, books);
  /** The last answers, valid until something happens. */
  const kept = new Map<string, { seq: number; history: Promise<RunHistory> }>();

  /** Every change leaves an event, so without a new one the result would be the same. */
  function findHistory(wanted: { by: StatsKind; from: number }): Promise<RunHistory> {
    const key = `${wanted.by} ${wanted.from}`;
    const seq = events.lastSeq();
    const known = kept.get(key);
    if (known?.seq === seq) return known.history;
    const history = reader.read(wanted);
    kept.clear();
    kept.set(key, { seq, history });
    history.catch(() => kept.delete(key));
    return history;
  }

  function describeQueue(runMs: ReadonlyMap<string, number>): StatsReport['queue'] {
    const rows = live.all();
    const isWaiting = ({ state, resume_at: at }: LiveRow): boolean => state === 'queued' && at === null;
    const isPaused = ({ state, resume_at: at }: LiveRow): boolean => state === 'queued' && at !== null;
    const runs = rows
      .filter((row) => !isPaused(row))
      .map(
        (row): LiveRun => ({
          agent: row.agent,
          startedAt: isWaiting(row) ? null : (row.run_started_at ?? clock.now()),
        }),
      );
    const endsAt = estimateQueueEnd(runs, { now: clock.now(), cap, runMs });
    return {
      running: runs.filter(({ startedAt }) => startedAt !== null).length,
      waiting: rows.filter(isWaiting).length,
      paused: rows.filter(isPaused).length,
      cap,
      endsAt: endsAt === null ? null : rfc3339(endsAt),
    };
  }

  return {
    async read(wanted) {
      const at = rfc3339(clock.now());
      const { runMs, ...history } = await findHistory(wanted);
      const first = firstEvent.get();
      return {
        by: wanted.by,
        at,
        eventsSince: first === undefined ? null : rfc3339(first.at),
        ...history,
        queue: describeQueue(runMs),
      };
    },
  };
}
