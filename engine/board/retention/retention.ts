import type { Clock } from '../../core/base/clock.ts';
import { createDueTimer } from '../../core/base/due-timer.ts';
import type { Log } from '../../core/base/log.ts';
import { createSerialQueue } from '../../core/base/serial-queue.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { Worktrees } from '../../workers/runner/worktrees/index.ts';
import type { RetentionAges } from './config.ts';
import { eventRetention } from './events.ts';
import type { RetentionKind } from './kind.ts';
import { logRetention } from './logs.ts';
import { createPacedWriter, type PacedWriter } from './pace.ts';
import { refRetention } from './refs.ts';
import { createDatabaseShrinker } from './shrink.ts';
import { taskRetention } from './tasks.ts';

/** The removed or removable data of one kind. */
export interface CleanedKind {
  key: RetentionKind['key'];
  label: string;
  /** Its maximum age, ms; null for unlimited. */
  ageMs: number | null;
  count: number;
  /** An estimate. */
  bytes: number;
}

export interface CleaningResult {
  kinds: CleanedKind[];
  /** Bytes of the database file; null for a dry run. */
  database: { before: number; after: number } | null;
  /** True if the database file shrinks; otherwise freed space in it is reused. */
  shrinks: boolean;
}

/** Removes finished data after a time. */
export interface DataRetention {
  /** Sweeps automatically once a day from here on. */
  start(): void;
  /** @param olderMs replaces the configured ages, but never shortens discarded work's */
  clean(wanted: {
    olderMs?: number | undefined;
    isDryRun: boolean;
    actor: string;
    via: string;
  }): Promise<CleaningResult>;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
/** Right after the start of an engine other work is more important. */
const FIRST_AFTER_MS = 5 * 60_000;
const LAST_SWEEP = 'swept_at';

export function createDataRetention(deps: {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  worktrees: Pick<Worktrees, 'listSavedRefs' | 'deleteSavedRefs' | 'isTakenIn'>;
  agentsDir: string;
  /** Read at each sweep. */
  ages(): RetentionAges;
  log: Pick<Log, 'warn' | 'info'>;
}): DataRetention {
  const { storage, events, clock, worktrees, log } = deps;
  const { db } = storage;
  let isClosed = false;
  const { measureDatabase, canShrink, shrinkDatabase } = createDatabaseShrinker(storage, () => isClosed);
  // Rows with references are removed before their targets.
  const kinds: readonly RetentionKind[] = [
    refRetention({ of: 'discarded', storage, worktrees }),
    refRetention({ of: 'merged', storage, worktrees }),
    logRetention({ storage, agentsDir: deps.agentsDir }),
    taskRetention(storage),
    eventRetention(storage),
  ];
  const lastSweep = db.prepare<unknown[], { value: string }>('SELECT value FROM meta WHERE key = ?');
  const setLastSweep = db.prepare(
    'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
  );
  const enqueue = createSerialQueue();

  async function cleanKind(
    kind: RetentionKind,
    { ageMs, isDryRun, writer }: { ageMs: number | null; isDryRun: boolean; writer: PacedWriter },
  ): Promise<CleanedKind> {
    const cleaned: CleanedKind = { key: kind.key, label: kind.label, ageMs, count: 0, bytes: 0 };
    if (ageMs === null) return cleaned;
    const cutoff = clock.now() - ageMs;
    for await (const part of kind.find(cutoff)) {
      if (isClosed) break;
      const gone = isDryRun ? part : await kind.remove(part, cutoff, writer);
      cleaned.count += gone.length;
      cleaned.bytes += gone.reduce((sum, { bytes }) => sum + bytes, 0);
      await writer.rest(0);
    }
    return cleaned;
  }

  const clean: DataRetention['clean'] = async ({ olderMs, isDryRun, actor, via }) => {
    // No one waits for the daily sweep.
    const writer = createPacedWriter(storage, () => isClosed, via === 'engine' ? 4 : 1);
    const ages = deps.ages();
    const before = measureDatabase();
    const cleaned: CleanedKind[] = [];
    for (const kind of kinds) {
      const age = ages[kind.key];
      const wanted = olderMs ?? age;
      const isKeptLonger = kind.key === 'discarded' && (age === null || wanted === null || wanted < age);
      cleaned.push(await cleanKind(kind, { ageMs: isKeptLonger ? age : wanted, isDryRun, writer }));
    }
    if (isDryRun) return { kinds: cleaned, database: null, shrinks: canShrink() };
    await shrinkDatabase(writer);
    const counts = cleaned.filter(({ count }) => count > 0).map(({ key, count }) => [key, count] as const);
    if (counts.length > 0 && !isClosed)
      await storage.write(() =>
        events.append({ kind: 'data_cleaned', actor, via, data: Object.fromEntries(counts) }),
      );
    return { kinds: cleaned, database: { before, after: measureDatabase() }, shrinks: canShrink() };
  };

  async function sweep(): Promise<void> {
    const cleaned = await clean({ isDryRun: false, actor: 'svc', via: 'engine' });
    if (isClosed) return;
    await storage.write(() => setLastSweep.run(LAST_SWEEP, String(clock.now())));
    log.info({ kinds: cleaned.kinds, database: cleaned.database }, 'old data was removed');
  }

  const timer = createDueTimer({
    clock,
    onDue() {
      enqueue(sweep)
        .catch((error: unknown) => {
          if (!isClosed) log.warn({ error }, 'old data was not removed');
        })
        .finally(() => timer.sleepUntil(clock.now() + DAY_MS));
    },
  });

  return {
    start() {
      const last = Number(lastSweep.get(LAST_SWEEP)?.value ?? 0);
      timer.sleepUntil(Math.max(last + DAY_MS, clock.now() + FIRST_AFTER_MS));
    },
    clean: (wanted) => enqueue(() => clean(wanted)),
    async close() {
      isClosed = true;
      timer.close();
      await enqueue(() => undefined);
    },
  };
}
