import { CALL_TOKENS, COUNTER_COLUMNS, IS_SPENT, type UsageCounts } from './counters.ts';
import { openBooksToRead, type ReadBooks } from './open-books.ts';
import { createSessionCalls, type SessionCalls } from './session-calls.ts';

/** A budget that was reached, as the gateway recorded it. */
export interface MetBudget {
  id: number;
  at: number;
  scope: 'day' | 'task';
  subject: string;
  limit_tokens: number;
  until: number | null;
  session_id: number | null;
  task_id: number | null;
}

/** Usage of all calls of one day that share these values. */
export interface UsagePart extends UsageCounts {
  session_id: number | null;
  task_id: number | null;
  person: string | null;
  provider: string | null;
  model: string | null;
  protocol: string;
  /** UTC, `2026-11-22`. */
  day: string;
}

/** One call, without its content. */
export interface RecentCall {
  started_at: number;
  session_id: number | null;
  provider: string | null;
  model: string | null;
  outcome: string;
  tokens: number;
  total_ms: number | null;
}

/** Statistics of one session's requests and answers, without their content. */
export interface SessionHabits {
  session_id: number;
  calls: number;
  /** Requests whose tools and instructions no earlier call of the session had, with nothing read from a prompt cache. */
  fresh_calls: number;
  /** Tokens that those requests sent. */
  fresh_tokens: number;
}

/** The number of the session; null for all calls. */
type Whose = number | null;
interface Meant {
  /** UTC. */
  day: string;
  whose: Whose;
}

/** The engine's read access to the gateway's books, whether or not the gateway runs. */
export interface BooksReader extends SessionCalls {
  /** Calls that started on that UTC day or later. */
  listUsage(sinceDay: string, whose: Whose): UsagePart[];
  /** Returns tokens of a UTC day by provider, for calls that started at `since` (Unix ms) or later. */
  sumSpentByProvider(day: string, since: number): { provider: string | null; tokens: number }[];
  /** Returns tokens of a UTC day by the hour in which their calls started: 24 numbers. */
  listHours(day: string, whose: Whose): number[];
  /** Returns calls, newest first. */
  listRecent(most: number, whose: Whose): RecentCall[];
  /** Returns a number that changes with every write. */
  readVersion(): number;
  /** Returns the time until which a session's calls are refused, Unix ms; null if they are accepted. */
  limitedUntil(sessionId: number): number | null;
  /** Returns entries recorded after the given id. */
  listMetBudgets(after: number): MetBudget[];
  /** Requests that a client repeated unchanged, and requests that were retried at an upstream. */
  countRepeated(sinceDay: string, whose: Whose): { calls: number; tokens: number; retries: number };
  /** Calls of runs that started after the end of their session, given as its number and Unix ms. */
  countAfterEnd(
    sinceDay: string,
    whose: Whose,
    endedAt: (sessionId: number) => number | null,
  ): { calls: number; tokens: number };
  /** Returns tool outputs in requests: those above the threshold that were not shortened. */
  countLongToolOutputs(sinceDay: string, whose: Whose): { calls: number; bytes: number };
  listSessionHabits(sinceDay: string, whose: Whose): SessionHabits[];
  countOpen(): number;
  close(): void;
}

/** Limited to `whose`. */
const IS_MEANT = '(@whose IS NULL OR session_id = @whose)';

/** Opens the file once it exists. */
export function createBooksReader(data: string): BooksReader {
  const { readBooks, close } = openBooksToRead(data);
  return {
    ...createUsageQueries(readBooks),
    ...createHabitQueries(readBooks),
    ...createSessionCalls(readBooks),
    readVersion: () => readBooks((db) => db.pragma('data_version', { simple: true }) as number, -1),
    limitedUntil: (sessionId) =>
      readBooks(
        (db) =>
          db
            .prepare<[number], { until: number }>('SELECT until FROM refused_session WHERE session_id = ?')
            .get(sessionId)?.until ?? null,
        null,
      ),
    listMetBudgets: (after) =>
      readBooks(
        (db) =>
          db.prepare<[number], MetBudget>('SELECT * FROM exhausted WHERE id > ? ORDER BY id').all(after),
        [],
      ),
    countOpen: () =>
      readBooks(
        (db) =>
          db.prepare<[], { n: number }>("SELECT count(*) AS n FROM call WHERE outcome = 'open'").get()?.n ??
          0,
        0,
      ),
    close,
  };
}

const createUsageQueries = (
  readBooks: ReadBooks,
): Pick<BooksReader, 'listUsage' | 'sumSpentByProvider' | 'listHours' | 'listRecent'> => ({
  listUsage: (day, whose) =>
    readBooks(
      (db) =>
        db
          .prepare<[Meant], UsagePart>(
            `SELECT session_id, task_id, person, provider, model, protocol, day, ${COUNTER_COLUMNS}
               FROM call WHERE day >= @day AND ${IS_MEANT} GROUP BY 1, 2, 3, 4, 5, 6, 7`,
          )
          .all({ day, whose }),
      [],
    ),
  sumSpentByProvider: (day, since) =>
    readBooks(
      (db) =>
        db
          .prepare<[string, number], { provider: string | null; tokens: number }>(
            `SELECT provider, sum(${CALL_TOKENS}) AS tokens FROM call WHERE day = ? AND started_at >= ? GROUP BY 1`,
          )
          .all(day, since)
          .filter(({ tokens }) => tokens > 0),
      [],
    ),
  listHours(day, whose) {
    const hours = new Array<number>(24).fill(0);
    const rows = readBooks(
      (db) =>
        db
          .prepare<[Meant & { from: number }], { hour: number; tokens: number }>(
            `SELECT CAST((started_at - @from) / 3600000 AS INTEGER) AS hour, sum(${CALL_TOKENS}) AS tokens
               FROM call WHERE day = @day AND ${IS_MEANT} GROUP BY 1`,
          )
          .all({ from: Date.parse(day), day, whose }),
      [],
    );
    for (const { hour, tokens } of rows) if (hour in hours) hours[hour] = tokens;
    return hours;
  },
  listRecent: (most, whose) =>
    readBooks(
      (db) =>
        db
          .prepare<[{ most: number; whose: Whose }], RecentCall>(
            `SELECT started_at, session_id, provider, model, outcome, ${CALL_TOKENS} AS tokens, total_ms
               FROM call WHERE ${IS_MEANT} ORDER BY id DESC LIMIT +@most`,
          )
          .all({ most, whose }),
      [],
    ),
});

const createHabitQueries = (
  readBooks: ReadBooks,
): Pick<BooksReader, 'countRepeated' | 'countAfterEnd' | 'countLongToolOutputs' | 'listSessionHabits'> => ({
  countRepeated: (day, whose) =>
    readBooks(
      (db) =>
        db
          .prepare<[Meant], { calls: number; tokens: number; retries: number }>(
            `SELECT coalesce(sum(n - 1), 0) AS calls, coalesce(sum(tokens * (n - 1) / n), 0) AS tokens,
                 (SELECT coalesce(sum(attempts - 1), 0) FROM call WHERE day >= @day AND ${IS_MEANT} AND attempts > 1) AS retries FROM (
                 SELECT count(*) AS n, sum(${CALL_TOKENS}) AS tokens FROM call
                 WHERE day >= @day AND ${IS_MEANT} AND kind = 'generate' AND ${IS_SPENT} GROUP BY prompt_hash HAVING n > 1)`,
          )
          .get({ day, whose })!,
      { calls: 0, tokens: 0, retries: 0 },
    ),
  countAfterEnd(day, whose, endedAt) {
    const rows = readBooks(
      (db) =>
        db
          .prepare<[Meant], { session_id: number; last: number }>(
            `SELECT session_id, max(started_at) AS last FROM call
               WHERE day >= @day AND ${IS_MEANT} AND session_id IS NOT NULL GROUP BY 1`,
          )
          .all({ day, whose }),
      [],
    );
    const found = { calls: 0, tokens: 0 };
    for (const { session_id: id, last } of rows) {
      const end = endedAt(id);
      if (end === null || last <= end) continue;
      const late = readBooks(
        (db) =>
          db
            .prepare<[number, number], { calls: number; tokens: number }>(
              `SELECT count(*) AS calls, coalesce(sum(${CALL_TOKENS}), 0) AS tokens FROM call WHERE session_id = ? AND started_at > ?`,
            )
            .get(id, end)!,
        { calls: 0, tokens: 0 },
      );
      found.calls += late.calls;
      found.tokens += late.tokens;
    }
    return found;
  },
  countLongToolOutputs: (day, whose) =>
    readBooks(
      (db) =>
        db
          .prepare<[Meant], { calls: number; bytes: number }>(
            `SELECT count(*) AS calls, coalesce(sum(tool_bytes), 0) AS bytes
               FROM call WHERE day >= @day AND ${IS_MEANT} AND tool_bytes > 0`,
          )
          .get({ day, whose })!,
      { calls: 0, bytes: 0 },
    ),
  listSessionHabits: (day, whose) =>
    readBooks(
      (db) =>
        db
          .prepare<[Meant], SessionHabits>(
            `SELECT session_id, count(*) AS calls, sum(is_fresh) AS fresh_calls, sum(iif(is_fresh, sent, 0)) AS fresh_tokens FROM (
                 SELECT session_id, input + cache_write AS sent, cache_read = 0
                   AND row_number() OVER (PARTITION BY session_id, prefix_hash ORDER BY id) = 1 AS is_fresh
                 FROM call WHERE day >= @day AND ${IS_MEANT} AND session_id IS NOT NULL AND prefix_hash IS NOT NULL AND ${IS_SPENT})
               GROUP BY session_id`,
          )
          .all({ day, whose }),
      [],
    ),
});
