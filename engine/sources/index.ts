import { type Clock, rfc3339 } from '../core/base/clock.ts';
import { asSvcError, SvcError, toHttpStatus } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { sentence } from '../core/base/sentence.ts';
import { type Forge, findPauseMs } from '../forge/index.ts';
import type { CodeHostIntake, CodeHostWork } from '../receiver/index.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import { createSavepoint } from '../storage/index.ts';
import type { SourceConfig } from './config.ts';
import { EMPTY_CACHE, type Poll, type PollCache, type PollState, pollRepository } from './poll.ts';

/** A source and its last poll. Times are RFC 3339 UTC. */
export interface ListedSource {
  /** `github:acme/shop:svc`. */
  id: string;
  kind: SourceConfig['kind'];
  repository: string;
  label: string;
  intervalSec: number;
  template: string;
  /** The last poll that was answered; null for none. */
  polledAt: string | null;
  /** Why the last poll failed, a sentence; null if it did not. */
  problem: string | null;
  /** Since when each poll fails. */
  failingSince: string | null;
  nextAt: string | null;
  /** Issues and comments of the last days that became no task, newest first. */
  ignored: { ref: string; reason: string }[];
}

/** The tasks that a poll would create. */
export interface SourceTrial {
  id: string;
  /** Issues and comments that would become tasks now. */
  found: { kind: CodeHostWork['kind']; ref: string; title: string; author: string | null }[];
  /** Issues that had the label before the source was polled first. */
  earlier: number[];
}

export interface SourcesDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  log: Pick<Log, 'warn'>;
  codeHost: CodeHostIntake;
  /** The sources of svc.yaml; empty while no one has agreed to them. */
  list(): readonly SourceConfig[];
  openForge(source: SourceConfig): Forge;
}

/** Polls code hosts for new work. */
export interface Sources {
  /** Polls each source when it is due, from now on. */
  start(): void;
  list(): ListedSource[];
  /** Polls sources now: all, or those of a repository. Throws `not_found`. Failures are in the answer. */
  poll(repository?: string): Promise<ListedSource[]>;
  /** Asks without creating a task. Throws as the code host's program fails. */
  test(repository?: string): Promise<SourceTrial[]>;
  close(): Promise<void>;
}

/** How often due sources are looked for, ms. */
const LOOK_MS = 5000;
const BACKOFF = { firstMs: 30_000, longestMs: 3600_000 };
/** A source that fails for so long is an alert, ms. */
const ALERT_MS = 600_000;
const MOST_IGNORED = 20;

interface Live {
  cache: PollCache;
  nextAt: number;
  failures: number;
  failingSince: number | null;
  isReported: boolean;
  problem: string | null;
  polledAt: number | null;
  ignored: { ref: string; reason: string }[];
  polling: Promise<void> | null;
}

function nameSource(source: SourceConfig): string {
  const { kind, repository, label } = source;
  const host = 'host' in source ? `${source.host}/` : '';
  return `${kind}:${host}${repository}`.toLowerCase().concat(`:${label}`);
}

export function createSources(deps: SourcesDeps): Sources {
  const { storage, clock, codeHost, log } = deps;
  const select = storage.db.prepare<unknown[], { state: string }>(
    'SELECT state FROM source_poll WHERE source = ?',
  );
  const upsert = storage.db.prepare(
    'INSERT OR REPLACE INTO source_poll (source, state, polled_at) VALUES (?, ?, ?)',
  );
  const savepoint = createSavepoint(storage.db);
  const lives = new Map<string, Live>();
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  const readState = (id: string): PollState | null => {
    const row = select.get(id);
    return row === undefined ? null : (JSON.parse(row.state) as PollState);
  };

  function findLive(id: string): Live {
    const found = lives.get(id);
    if (found !== undefined) return found;
    const live: Live = {
      ...{ cache: EMPTY_CACHE, nextAt: 0, failures: 0, failingSince: null, isReported: false },
      ...{ problem: null, polledAt: null, ignored: [], polling: null },
    };
    lives.set(id, live);
    return live;
  }

  const ask = async (source: SourceConfig, cache: PollCache): Promise<Poll> =>
    pollRepository(deps.openForge(source), source, {
      ...{ state: readState(nameSource(source)), cache, now: clock.now() },
      isTaken: codeHost.isTaken,
    });

  /** Inside `storage.write`: makes a task of an issue or comment. Returns why not; null if there is one. */
  function takeWork(work: CodeHostWork, template: string): string | null {
    try {
      return savepoint(() => {
        const taken = codeHost.takeWork(work, template);
        return 'ignored' in taken ? taken.ignored : null;
      });
    } catch (thrown) {
      const error = asSvcError(thrown);
      // A full disk concerns the whole poll.
      if (toHttpStatus(error.code) >= 500) throw error;
      return error.message;
    }
  }

  async function pollOnce(source: SourceConfig, live: Live): Promise<void> {
    const id = nameSource(source);
    const { state, cache, works } = await ask(source, live.cache);
    const ignored = await storage.write(() => {
      upsert.run(id, JSON.stringify(state), clock.now());
      return works.flatMap((work) => {
        const reason = takeWork(work, source.template);
        return reason === null ? [] : [{ ref: work.ref, reason }];
      });
    });
    // The next poll looks at the rest again: its template may have been added.
    live.cache = ignored.length === 0 ? cache : EMPTY_CACHE;
    const refs = ignored.map(({ ref }) => ref);
    live.ignored = [...ignored, ...live.ignored.filter(({ ref }) => !refs.includes(ref))].slice(
      0,
      MOST_IGNORED,
    );
  }

  function reportFailure(source: SourceConfig, live: Live, problem: string): void {
    const since = live.failingSince ?? clock.now();
    if (live.isReported || clock.now() - since < ALERT_MS) return;
    live.isReported = true;
    const reason = `${source.repository} could not be polled since ${rfc3339(since)}: ${problem}`;
    storage
      .write(() =>
        deps.events.append({ kind: 'alert', via: 'engine', data: { code: 'program_failed', reason } }),
      )
      .catch((error: unknown) => log.warn({ error: asSvcError(error).message }, 'an alert was not recorded'));
  }

  async function poll(source: SourceConfig): Promise<void> {
    const live = findLive(nameSource(source));
    live.polling ??= (async () => {
      try {
        await pollOnce(source, live);
        Object.assign(live, {
          ...{ failures: 0, failingSince: null, isReported: false, problem: null },
          ...{ polledAt: clock.now(), nextAt: clock.now() + source.interval_sec * 1000 },
        });
      } catch (error) {
        live.failures += 1;
        live.failingSince ??= clock.now();
        const failure = asSvcError(error);
        const { message, hint } = failure;
        live.problem = hint === undefined ? message : `${message} (${hint})`;
        const pauseMs = findPauseMs(failure, live.failures, BACKOFF);
        live.nextAt = clock.now() + Math.max(pauseMs, source.interval_sec * 1000);
        log.warn({ source: source.repository, problem: live.problem }, 'a source could not be polled');
        reportFailure(source, live, live.problem);
      } finally {
        live.polling = null;
      }
    })();
    await live.polling;
  }

  function pollDue(): void {
    if (isClosed) return;
    for (const source of deps.list())
      if (findLive(nameSource(source)).nextAt <= clock.now()) void poll(source);
  }

  function selectSources(repository: string | undefined): readonly SourceConfig[] {
    const all = deps.list();
    const found = all.filter(
      (each) => repository === undefined || each.repository.toLowerCase() === repository.toLowerCase(),
    );
    if (found.length > 0) return found;
    throw new SvcError(
      'not_found',
      repository === undefined ? 'svc.yaml names no repository in sources' : `no source has ${repository}`,
      { hint: sentence`{source.list} lists them` },
    );
  }

  function describe(source: SourceConfig): ListedSource {
    const id = nameSource(source);
    const { polledAt, problem, failingSince, nextAt, ignored } = findLive(id);
    const { kind, repository, label, interval_sec: intervalSec, template } = source;
    return {
      ...{ id, kind, repository, label, intervalSec, template, problem, ignored },
      polledAt: polledAt === null ? null : rfc3339(polledAt),
      failingSince: failingSince === null ? null : rfc3339(failingSince),
      nextAt: nextAt === 0 ? null : rfc3339(nextAt),
    };
  }

  return {
    start() {
      timer = setInterval(pollDue, LOOK_MS).unref();
      pollDue();
    },
    list: () => deps.list().map(describe),
    async poll(repository) {
      const chosen = selectSources(repository);
      await Promise.all(chosen.map(poll));
      return chosen.map(describe);
    },
    test: (repository) =>
      Promise.all(
        selectSources(repository).map(async (source) => {
          const { works, earlier } = await ask(source, EMPTY_CACHE);
          const found = works.map(({ kind, ref, title, author }) => ({ kind, ref, title, author }));
          return { id: nameSource(source), found, earlier };
        }),
      ),
    async close() {
      isClosed = true;
      if (timer !== null) clearInterval(timer);
      await Promise.allSettled([...lives.values()].flatMap(({ polling }) => polling ?? []));
    },
  };
}
