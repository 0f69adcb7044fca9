import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Caller } from '../../core/api/operation.ts';
import type { Clock } from '../../core/base/clock.ts';
import { createDueTimer } from '../../core/base/due-timer.ts';
import { SvcError } from '../../core/base/errors.ts';
import { isInsideFolder } from '../../core/base/paths.ts';
import { createSerialQueue } from '../../core/base/serial-queue.ts';
import type { CallerPaths } from '../../core/workspace/caller-paths.ts';
import { resolveExistingPart, type WorkspacePaths } from '../../core/workspace/workspace-path.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import { createMemoryAuthors } from './authors.ts';
import { composeNotes } from './brief.ts';
import type { EmbeddingModel } from './model-vectors.ts';
import type { RecalledMemory, RecallOptions } from './recall.ts';
import type { MemoryStore } from './store.ts';

export { pointToNotes } from './brief.ts';

export interface MemoryDeps {
  storage: Storage;
  events: Pick<EventLog, 'append'>;
  clock: Clock;
  settings(): MemorySettings;
  /** Returns the worker session of that id; null for others. */
  sessionOf(sessionId: string): { taskId: string; agent: string; model: string | null } | null;
  task(taskId: string): { source: string; stranger: string | null };
  paths: Pick<WorkspacePaths, 'statOf'>;
  callerPaths: Pick<CallerPaths, 'resolveOwn' | 'resolveShared'>;
  /** Reports whether a file of that name configures a program that works in its folder. */
  isConfiguration(path: string): boolean;
  /** Returns the names that no index of the code knows; null if there is no index. */
  listUnknownNames(names: readonly string[]): string[] | null;
  /** Returns null without one. */
  embeddings(): EmbeddingModel | null;
  log: { warn(facts: object, text: string): void };
}

export interface MemorySettings {
  enabled: boolean;
  /** Memories per worker; 0 for no file at all. */
  briefLimit: number;
  retentionDays: Readonly<Record<string, number>>;
  /** The workspace's folder, and the default export folder; absolute. */
  root: string;
  okfDir: string;
}

/** The implementation of the operations, loaded on first use. */
export interface OpenMemory {
  store: MemoryStore;
  recall(query: string, options: RecallOptions): Promise<RecalledMemory[]>;
}

export type Memories = ReturnType<typeof createMemory>;

const SWEEP_EVERY_MS = 60 * 60_000;

/** Owns the memories that outlive a session. */
export function createMemory(deps: Omit<MemoryDeps, 'listUnknownNames'>) {
  const { storage, events, clock, settings } = deps;
  let opened: Promise<OpenMemory> | undefined;
  /** Runs exports and imports one after another. */
  const inFolder = createSerialQueue();

  async function loadMemory(): Promise<OpenMemory> {
    const [{ createMemoryStore }, { createRecall }, { createModelVectors }] = await Promise.all([
      import('./store.ts'),
      import('./recall.ts'),
      import('./model-vectors.ts'),
    ]);
    const store = createMemoryStore({
      storage,
      events,
      clock,
      retentionDays: () => settings().retentionDays,
      modelOf: (sessionId) => deps.sessionOf(sessionId)?.model ?? null,
    });
    const { recall } = createRecall({ storage, clock });
    const compare = createModelVectors(deps);
    return {
      store,
      recall: async (query, options) => recall(query, { ...options, nearness: await compare(query) }),
    };
  }

  /** Throws `config_invalid` while memory.enabled is false. Expired memories have ended when it resolves. */
  async function openMemory(): Promise<OpenMemory> {
    if (!settings().enabled)
      throw new SvcError('config_invalid', 'memory is off', {
        hint: 'memory.enabled: true turns it on',
      });
    opened ??= loadMemory();
    const memory = await opened;
    if (!memory.store.isIndexCurrent()) await storage.write(() => memory.store.rebuildIndex());
    if (memory.store.isSweepDue())
      await storage.write(() => memory.store.sweep({ actor: 'svc', via: 'engine' }));
    return memory;
  }

  const timer = createDueTimer({
    clock,
    onDue() {
      const hasRetention = Object.values(settings().retentionDays).some((days) => days > 0);
      if (settings().enabled && hasRetention)
        openMemory().catch((error: unknown) => deps.log.warn({ error }, 'memory was not swept'));
      timer.sleepUntil(clock.now() + SWEEP_EVERY_MS);
    },
  });

  return {
    open: openMemory,
    ...createMemoryAuthors(deps),
    /** Writes the memories as an OKF bundle, replacing an earlier one. */
    exportBundle: (
      dir: string | undefined,
      { all, limit }: { all: boolean; limit: number },
      caller: Caller,
    ) =>
      inFolder(async () => {
        const { store } = await openMemory();
        const { composeBundle, replaceBundle } = await import('./okf/export.ts');
        const { top, folder } = locateBundle(deps, dir, caller);
        const memories = store.listForExport(all, limit);
        const files = await composeBundle(memories, deps.isConfiguration);
        await replaceBundle({ top, folder, files, knows: store.knows });
        return { dir: folder, memories: memories.length };
      }),
    /** Reads a bundle for `OpenMemory.store`. Throws `not_found`, `path_outside`. */
    readBundle: (dir: string | undefined, caller: Caller) =>
      inFolder(async () => {
        const [{ readBundle }, { settleExports }] = await Promise.all([
          import('./okf/import.ts'),
          import('./okf/export.ts'),
        ]);
        const { folder } = locateBundle(deps, dir, caller);
        settleExports(folder);
        if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
          throw new SvcError('not_found', `no folder ${folder}`, { hint: 'name the folder of a bundle' });
        return { dir: folder, ...(await readBundle(folder)) };
      }),
    /** Returns the memories about a task as the file for its worker, recorded with its session; null for none. */
    async writeBrief(
      { taskId, prompt }: { taskId: string; prompt: string },
      sessionId: string,
    ): Promise<string | null> {
      const { enabled, briefLimit } = settings();
      if (!enabled || briefLimit === 0) return null;
      const { store, recall } = await openMemory();
      const found = await recall(prompt, { limit: briefLimit, onlyReviewed: true });
      const notes = composeNotes(found, clock.now());
      await storage.write(() =>
        store.recordBrief({
          sessionId,
          taskId,
          ids: notes?.ids ?? [],
          bytes: notes === null ? 0 : Buffer.byteLength(notes.text),
        }),
      );
      return notes?.text ?? null;
    },
    start: () => timer.sleepUntil(clock.now() + SWEEP_EVERY_MS),
    close: timer.close,
  };
}

/**
 * Finds the folder of a bundle, and an existing folder above it. The default is the folder of svc.yaml; for callers
 * other than the Chair it is checked as if they had named it.
 */
function locateBundle(
  deps: Pick<MemoryDeps, 'settings' | 'callerPaths' | 'paths'>,
  dir: string | undefined,
  caller: Caller,
): { top: string; folder: string } {
  const { root, okfDir } = deps.settings();
  if (dir !== undefined || caller.seat !== 'chair') {
    const { top, absolute } = deps.callerPaths.resolveOwn(dir ?? okfDir, caller);
    return { top, folder: absolute };
  }
  const folder = resolveExistingPart(okfDir);
  let top = isInsideFolder(resolveExistingPart(root), folder) ? resolveExistingPart(root) : dirname(folder);
  while (deps.paths.statOf(top) === null && top !== dirname(top)) top = dirname(top);
  return { top, folder };
}
