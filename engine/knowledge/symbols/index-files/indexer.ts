import { createHash } from 'node:crypto';
import { lstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { createSerialQueue } from '../../../core/base/serial-queue.ts';
import type { Git } from '../../../workers/runner/worktrees/index.ts';
import {
  countSkipped,
  createLanguageTable,
  listSources,
  readText,
  type SkipCounts,
  type SourceFile,
  type SourceLanguage,
} from '../../sources/index.ts';
import { createExactEdges, type ExactEdges } from '../exact/exact-edges.ts';
import { createStoredProject } from '../resolve/stored-project.ts';
import { type GraphDatabase, openGraphFile, readFact, writeFact } from '../store/graph-file.ts';
import { createGraphRows, type FileRow } from '../store/rows.ts';
import { createIndexedFiles } from './indexed-files.ts';
import { createMarkedResolver } from './resolve-marked.ts';
import { type IndexSurvey, isLargeChange } from './survey.ts';

export interface IndexerOptions {
  /** The project's folder, absolute. */
  root: string;
  /** The file of the index. */
  file: string;
  git: Git;
  parsers: Readonly<Record<string, string>>;
  without: readonly string[];
}

/** The progress of a long refresh. */
export interface IndexProgress {
  phase: 'read' | 'resolve' | 'compile';
  done: number;
  total: number;
}

export interface RefreshOptions {
  progress?(progress: IndexProgress): void;
  /** Also reads files that look unchanged. */
  isFull?: boolean;
}

export interface RefreshResult {
  /** Number of files read again, and of removed files. */
  read: number;
  removed: number;
  resolved: number;
  /** Total duration, and the time for finding changes. */
  ms: number;
  comparingMs: number;
}

export interface FileIndexer {
  readonly db: GraphDatabase;
  /** The project's folder, with links resolved. */
  readonly root: string;
  /** Brings the index to the state of the folder. */
  refresh(options?: RefreshOptions): Promise<RefreshResult>;
  /** Does the same, but changes nothing and returns null if so many files have changed that a new index costs less. */
  refreshUnlessLarge(options?: RefreshOptions): Promise<RefreshResult | null>;
  /** Compares known files with the disk and reads changed ones; finds no new ones. Returns their number. */
  refreshKnown(paths: Iterable<string>): Promise<number>;
  /** The edges from the project's compiler. */
  readonly exact: ExactEdges;
  /** Resolves the references of marked files. */
  resolveMarked(): Promise<number>;
  languageOf(path: string): SourceLanguage | null;
  skipped(): SkipCounts;
  hasFile(path: string): boolean;
  listPaths(): string[];
  /** Returns paths of package.json, tsconfig.json and the like. */
  listManifests(): readonly string[];
  /** Returns number of files with unresolved references. */
  countDirty(): number;
  close(): Promise<void>;
}

const MOST_MANIFEST_BYTES = 1024 * 1024;

/** Keeps a graph.db up to date with the files of a folder. */
export function createIndexer({ root, file, git, parsers, without }: IndexerOptions): FileIndexer {
  const top = realpathSync.native(root);
  const db = openGraphFile(file, JSON.stringify({ parsers }));
  const rows = createGraphRows(db);
  const exact = createExactEdges(db);
  const languageOf = createLanguageTable(parsers);
  let manifests: string[] = [];
  const project = createStoredProject(db, rows, {
    list: () => manifests,
    read: (path) => readText(top, path, MOST_MANIFEST_BYTES),
  });

  const { known, pool, marker, workInBatches, removeFile, readFiles } = createIndexedFiles({
    db,
    rows,
    project,
    exact,
    top,
  });
  const resolveDirty = createMarkedResolver({ db, rows, project, marker, workInBatches });
  let skipped: SkipCounts = JSON.parse(readFact(db, 'skipped') ?? '{}');

  const enqueue = createSerialQueue();

  async function refresh(
    { progress = () => {}, isFull = false }: RefreshOptions,
    mayStart: (survey: IndexSurvey) => boolean,
  ): Promise<RefreshResult | null> {
    const from = performance.now();
    const list = await listSources({ root: top, git, without, parsers });
    const paths = new Set(list.files.map(({ path }) => path));
    const gone = [...known.values()].filter(({ path }) => !paths.has(path));
    const wanted = list.files.filter((each) => isFull || !isUnchanged(known.get(each.path), each));
    if (!mayStart({ wanted, gone })) return null;
    manifests = list.manifests;
    const digest = digestManifests(top, manifests);
    if (readFact(db, 'manifests') !== digest)
      db.transaction(() => {
        project.forgetManifests();
        rows.markAll();
        writeFact(db, 'manifests', digest);
      })();
    const comparingMs = performance.now() - from;
    const total = gone.length + wanted.length;
    await workInBatches(gone, removeFile, (done) => progress({ phase: 'read', done, total }));
    const read = await readFiles(wanted, isFull, (done) =>
      progress({ phase: 'read', done: gone.length + done, total }),
    );
    // The threads use much memory, and resolving takes the same amount again.
    await pool.rest();
    const resolved = await resolveDirty((done, total) => progress({ phase: 'resolve', done, total }));
    skipped = list.skipped;
    for (const { state } of known.values())
      if (state !== 'ok' && state !== 'slow' && state !== 'failed') countSkipped(skipped, state);
    writeFact(db, 'skipped', JSON.stringify(skipped));
    writeFact(db, 'at', String(Date.now()));
    return { read, removed: gone.length, resolved, ms: performance.now() - from, comparingMs };
  }

  async function refreshKnown(paths: Iterable<string>): Promise<number> {
    const wanted: SourceFile[] = [];
    const gone: FileRow[] = [];
    for (const path of paths) {
      const row = known.get(path);
      if (row === undefined) continue;
      const stat = lstatSync(join(top, path), { throwIfNoEntry: false });
      if (stat === undefined || !stat.isFile()) gone.push(row);
      else if (!isUnchanged(row, stat))
        wanted.push({ path, language: row.language, size: stat.size, mtimeMs: stat.mtimeMs });
    }
    if (gone.length + wanted.length === 0) return 0;
    await workInBatches(gone, removeFile, () => {});
    await readFiles(wanted, false, () => {});
    await resolveDirty(() => {});
    return gone.length + wanted.length;
  }

  return {
    db,
    root: top,
    refresh: async (options = {}) => (await enqueue(() => refresh(options, () => true))) as RefreshResult,
    refreshUnlessLarge: (options = {}) =>
      enqueue(() => refresh(options, (survey) => !isLargeChange(top, survey, known))),
    refreshKnown: (paths) => enqueue(() => refreshKnown(paths)),
    resolveMarked: () => enqueue(() => resolveDirty(() => {})),
    exact,
    languageOf,
    skipped: (): SkipCounts => skipped,
    hasFile: (path: string): boolean => known.has(path),
    listPaths: (): string[] => [...known.keys()],
    listManifests: () => manifests,
    countDirty: (): number => rows.listDirty().length,
    async close(): Promise<void> {
      await pool.close();
      db.close();
    },
  };
}

/** Returns the content of all manifests as one text; a change may redirect every import. */
function digestManifests(top: string, manifests: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of manifests) hash.update(`${path}\0${readText(top, path, MOST_MANIFEST_BYTES) ?? ''}\0`);
  return hash.digest('hex');
}

const isUnchanged = (
  row: FileRow | undefined,
  { size, mtimeMs }: { size: number; mtimeMs: number },
): boolean => row !== undefined && row.size === size && row.mtime === mtimeMs;
