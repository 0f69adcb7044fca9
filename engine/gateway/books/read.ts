import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { booksPath } from './schema.ts';

/** A budget that was met, as the gateway has noted it. */
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

/** By what usage is summed. */
export const USAGE_GROUPS = ['session', 'task', 'person', 'provider', 'model', 'protocol', 'day'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** What calls have used together. Tokens as in `TokenUsage`. */
export interface UsageSum {
  /** Of the group; null where calls have none. */
  key: string | number | null;
  calls: number;
  failed: number;
  denied: number;
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
  /** Of all tokens: those that no upstream has told. */
  estimated: number;
}

/** What the engine reads of the gateway's books, whether that runs or not. */
export interface BooksReader {
  /** Of calls that began then, Unix ms, or later. */
  sumUsage(since: number, group: UsageGroup | null): UsageSum[];
  /** Until when a session's calls are refused, Unix ms; null when they are not. */
  limitedUntil(sessionId: number): number | null;
  listMetBudgets(after: number): MetBudget[];
  /** Of requests that were sent again as they were. */
  countRepeated(since: number): { calls: number; tokens: number };
  countOpen(): number;
  close(): void;
}

const COLUMN: Readonly<Record<UsageGroup, string>> = {
  session: 'session_id',
  task: 'task_id',
  person: 'person',
  provider: 'provider',
  model: 'model',
  protocol: 'protocol',
  day: 'day',
};

const SUMS = `count(*) AS calls,
  coalesce(sum(outcome IN ('failed', 'cut')), 0) AS failed, coalesce(sum(outcome = 'denied'), 0) AS denied,
  coalesce(sum(input), 0) AS input, coalesce(sum(output), 0) AS output,
  coalesce(sum(cache_read), 0) AS cache_read, coalesce(sum(cache_write), 0) AS cache_write,
  coalesce(sum(CASE is_estimated WHEN 1 THEN input + output + cache_read + cache_write END), 0) AS estimated`;

/** Opens the file once it is there. */
export function createBooksReader(data: string): BooksReader {
  const path = booksPath(data);
  let opened: Database.Database | null = null;

  function read<T>(work: (db: Database.Database) => T, otherwise: T): T {
    if (opened === null) {
      if (!existsSync(path)) return otherwise;
      opened = new Database(path, { readonly: true, timeout: 1000 });
      opened.pragma('trusted_schema = OFF');
    }
    // Just being made by a gateway that starts.
    if (opened.pragma('user_version', { simple: true }) === 0) return otherwise;
    return work(opened);
  }

  return {
    sumUsage(since, group) {
      const column = group === null ? 'NULL' : COLUMN[group];
      const grouping = group === null ? '' : `GROUP BY ${column} ORDER BY sum(input + output) DESC`;
      return read(
        (db) =>
          db
            .prepare<[number], UsageSum>(
              `SELECT ${column} AS key, ${SUMS} FROM call WHERE started_at >= ? ${grouping}`,
            )
            .all(since),
        [],
      );
    },
    limitedUntil: (sessionId) =>
      read(
        (db) =>
          db
            .prepare<[number], { until: number }>('SELECT until FROM refused_session WHERE session_id = ?')
            .get(sessionId)?.until ?? null,
        null,
      ),
    listMetBudgets: (after) =>
      read(
        (db) =>
          db.prepare<[number], MetBudget>('SELECT * FROM exhausted WHERE id > ? ORDER BY id').all(after),
        [],
      ),
    countRepeated: (since) =>
      read(
        (db) =>
          db
            .prepare<[number], { calls: number; tokens: number }>(
              `SELECT coalesce(sum(n - 1), 0) AS calls, coalesce(sum(tokens * (n - 1) / n), 0) AS tokens FROM (
                 SELECT count(*) AS n, sum(input + output + cache_read + cache_write) AS tokens FROM call
                 WHERE started_at >= ? AND kind = 'generate' AND outcome NOT IN ('denied', 'stub', 'cached')
                 GROUP BY prompt_hash HAVING n > 1)`,
            )
            .get(since) ?? { calls: 0, tokens: 0 },
        { calls: 0, tokens: 0 },
      ),
    countOpen: () =>
      read(
        (db) =>
          db.prepare<[], { n: number }>("SELECT count(*) AS n FROM call WHERE outcome = 'open'").get()?.n ??
          0,
        0,
      ),
    close() {
      opened?.close();
      opened = null;
    },
  };
}
