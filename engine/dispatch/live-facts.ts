import type { Clock } from '../core/base/clock.ts';
import { renderLogLine } from '../core/base/text.ts';
import type { CommitResult, Runner } from '../workers/runner/runs/index.ts';
import type { Session } from '../workers/sessions/index.ts';
import type { SessionLogs } from './session-logs.ts';

/** Minimum interval for reading branches, for any number of requests. */
const COUNT_PAUSE_MS = 5000;
/** How much of the end of a log is read for its last line. */
const TAIL = { lines: 8, bytes: 65_536 };
const MOST_CHARS = 300;

/** Facts about running workers beyond their reports: their last line, and their commits so far. */
export interface LiveFacts {
  /** Returns the current facts; branches are read afterwards, for the next request. */
  listCommitted(live: readonly Session[]): Readonly<Record<string, CommitResult>>;
  /** Returns the last readable line of each log, by session; read again only if a log has grown. */
  listLastLines(times: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>>>;
}

export function createLiveFacts(deps: {
  runner: Pick<Runner, 'countCommitted'>;
  logs: Pick<SessionLogs, 'findTail' | 'open'>;
  clock: Pick<Clock, 'monotonic'>;
}): LiveFacts {
  const { runner, logs, clock } = deps;
  let committed: Record<string, CommitResult> = {};
  let countedAt = Number.NEGATIVE_INFINITY;
  let isCounting = false;
  let lastLines = new Map<string, { time: string; line: string }>();

  function countAgain(live: readonly Session[]): void {
    if (isCounting || clock.monotonic() - countedAt < COUNT_PAUSE_MS) return;
    const orders = live.flatMap(({ sessionId, state, repository, branch, baseCommit }) =>
      state === 'running' && repository !== null && branch !== null && baseCommit !== null
        ? [{ sessionId, repository, branch, baseCommit }]
        : [],
    );
    if (orders.length === 0) return;
    isCounting = true;
    countedAt = clock.monotonic();
    void runner
      .countCommitted(orders)
      .then((found) => {
        committed = found;
      })
      .catch(() => undefined)
      .finally(() => {
        isCounting = false;
      });
  }

  async function readLastLine(sessionId: string): Promise<string> {
    const from = await logs.findTail(sessionId, TAIL.lines);
    const { text } = await logs.open(sessionId, 'readable')({ from, maxBytes: TAIL.bytes, ended: false });
    const line =
      text
        .split('\n')
        .map(renderLogLine)
        .findLast((each) => each.trim() !== '') ?? '';
    return line.trim().slice(0, MOST_CHARS);
  }

  return {
    listCommitted(live) {
      countAgain(live);
      return committed;
    },
    async listLastLines(times) {
      const found = await Promise.all(
        Object.entries(times).map(async ([sessionId, time]) => {
          const before = lastLines.get(sessionId);
          if (before?.time === time) return [sessionId, before] as const;
          const line = await readLastLine(sessionId).catch(() => before?.line ?? '');
          return [sessionId, { time, line }] as const;
        }),
      );
      lastLines = new Map([...lastLines, ...found].slice(-MOST_REMEMBERED));
      return Object.fromEntries(found.map(([sessionId, { line }]) => [sessionId, line]));
    },
  };
}

/** Number of sessions whose lines are cached: more than run concurrently. */
const MOST_REMEMBERED = 500;
