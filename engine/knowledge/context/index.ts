import type { Caller } from '../../core/api/operation.ts';
import type { Clock } from '../../core/base/clock.ts';
import { createDueTimer } from '../../core/base/due-timer.ts';
import { SvcError } from '../../core/base/errors.ts';
import { type ForwardedReader, isProtectedTool } from '../../gateway/index.ts';
import type { Storage } from '../../storage/index.ts';
import type { createTextSearch } from './find.ts';
import { createForwardedImport } from './import-forwarded.ts';
import { createSavings } from './savings.ts';
import type { StoredRow, StoredText, TextStore } from './store.ts';
import type { createTextFiles, TextFolder } from './text-files.ts';

export interface StoredTextsDeps {
  storage: Storage;
  clock: Clock;
  settings(): StoredTextsSettings;
  /** Texts that the gateway omitted from requests. */
  forwarded: ForwardedReader;
  /** Returns the task of a worker session; null for others. */
  taskOf(sessionId: string): string | null;
  log: { warn(facts: object, text: string): void };
}

export interface StoredTextsSettings extends TextFolder {
  /** How long an unread text is kept, ms; 0 until its space is needed. */
  idleMs: number;
  /** True if the start and the end of a text are shown crushed. */
  crushes: boolean;
  /** True if the omitted part of a crushed text is stored. */
  stores: boolean;
  /** Minimum bytes of a tool output that hooks shorten; null for never. */
  longBytes: number | null;
  /** Tools whose output they leave unchanged; empty for the default ones. */
  protectedTools: readonly string[];
}

/** The implementation of the operations, loaded on first use. */
/** The caller whose text it is. */
export type TextOwner = Pick<Caller, 'seat' | 'sessionId' | 'actor'>;

export interface OpenTexts {
  store: TextStore;
  files: ReturnType<typeof createTextFiles>;
  find: ReturnType<typeof createTextSearch>['find'];
}

export type StoredTexts = ReturnType<typeof createStoredTexts>;

const SWEEP_EVERY_MS = 5 * 60_000;
/** Limit for all texts at a time. */
const MOST_BYTES = 512 * 1024 * 1024;
/** Limit per caller. */
const MOST_LISTED = 20;
const WHOLE_ID = /^(?:c-)?([0-9a-f]{10,64})$/;

async function loadTexts({ storage, clock, settings, log }: StoredTextsDeps): Promise<OpenTexts> {
  const [{ createTextFiles }, { createTextStore }, { createTextSearch }] = await Promise.all([
    import('./text-files.ts'),
    import('./store.ts'),
    import('./find.ts'),
  ]);
  const files = createTextFiles(settings);
  const store = createTextStore({
    storage,
    clock,
    idleMs: () => settings().idleMs,
    mostBytes: MOST_BYTES,
    removeFile: (hash) => tryTo(log, 'a stored text was not removed', () => files.remove(hash)),
  });
  const { find } = createTextSearch({
    storage,
    expiresBefore: store.expiresBefore,
    read: ({ hash, bytes }) => files.read(hash, bytes),
  });
  tryTo(log, 'context.dir was not cleaned', () => files.removeStray(store.isKept));
  return { store, files, find };
}

function tryTo(log: StoredTextsDeps['log'], what: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    log.warn({ error }, what);
  }
}

/** Owns the texts stored outside of agents' contexts. */
export function createStoredTexts(deps: StoredTextsDeps) {
  const { storage, clock, settings, log } = deps;
  let opened: Promise<OpenTexts> | undefined;

  function openTexts(): Promise<OpenTexts> {
    opened ??= loadTexts(deps);
    return opened;
  }

  const { keepForwarded, importForwarded } = createForwardedImport({
    storage,
    forwarded: deps.forwarded,
    log,
    openTexts,
  });

  const hasTexts = (): boolean => storage.db.prepare('SELECT 1 FROM stored_text LIMIT 1').get() !== undefined;

  async function sweep(): Promise<void> {
    if (!hasTexts()) return;
    const { store } = await openTexts();
    await storage.write(() => store.sweep());
  }

  const timer = createDueTimer({
    clock,
    onDue() {
      sweep().catch((error: unknown) => log.warn({ error }, 'stored texts were not swept'));
      timer.sleepUntil(clock.now() + SWEEP_EVERY_MS);
    },
  });

  /** Returns the holder of a caller's texts: its task, its session, or itself. */
  function holderOf({ seat, sessionId, actor }: TextOwner): string {
    if (seat === 'chair') return 'chair';
    if (sessionId === null) return `actor ${actor}`;
    return deps.taskOf(sessionId) ?? sessionId;
  }

  return {
    open: openTexts,
    settings,
    holderOf,
    /** Reports whether hooks should shorten the output of a tool. */
    wantsOutput({ tool, outputBytes }: { tool: string | null; outputBytes: number }): boolean {
      const { longBytes, crushes, stores, protectedTools } = settings();
      if (longBytes === null || outputBytes < longBytes || (!crushes && !stores)) return false;
      return tool !== null && !isProtectedTool(tool, protectedTools);
    },
    /** Returns the unexpired texts of a caller, last used first. Loads nothing if there are none. */
    async listOf(caller: Caller): Promise<StoredText[]> {
      await importForwarded();
      return hasTexts() ? (await openTexts()).store.listLastUsed(MOST_LISTED, holderOf(caller)) : [];
    },
    importForwarded,
    savings: createSavings({ storage, forwarded: deps.forwarded, log }),
    /**
     * Returns the row of a text; a text that only the gateway has is stored here first. Throws as
     * `TextStore.resolve`.
     */
    async resolve(id: string, { isWhole }: { isWhole: boolean }): Promise<StoredRow> {
      const { store } = await openTexts();
      try {
        return store.resolve(id, { isWhole });
      } catch (error) {
        const [, hash] = WHOLE_ID.exec(id) ?? [];
        const found = hash === undefined ? null : deps.forwarded.find(hash);
        if (found === null) throw error;
        await keepForwarded(found);
        return store.resolve(id, { isWhole });
      }
    },
    /** Returns the bytes of a text as stored. Throws `not_found` and `storage_failed` if they no longer exist. */
    async read(row: StoredRow): Promise<string> {
      const { files } = await openTexts();
      const bytes = files.read(row.hash, row.bytes);
      if (Buffer.isBuffer(bytes)) return bytes.toString('utf8');
      const hint = 'run the command again';
      throw bytes === 'gone'
        ? new SvcError('not_found', `the file of ${row.id} was removed from context.dir`, { hint })
        : new SvcError('storage_failed', `the file of ${row.id} does not hold the stored text`, {
            hint,
          });
    },
    /** Runs updates that must not cause a failure: renewing a text that was read, counting savings. */
    note: (work: () => void): Promise<void> =>
      storage
        .write(work)
        .catch((error: unknown) => log.warn({ error }, 'the use of a stored text was not recorded')),
    start: () => timer.sleepUntil(clock.now() + SWEEP_EVERY_MS),
    close() {
      timer.close();
      deps.forwarded.close();
    },
  };
}
