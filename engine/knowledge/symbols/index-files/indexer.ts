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
import { createEvaluator } from '../resolve/evaluate.ts';
import type { ValueEvaluator } from '../resolve/evaluation.ts';
import { createNameRules } from '../resolve/name-rules.ts';
import { createReferenceResolver } from '../resolve/references.ts';
import { createStoredProject } from '../resolve/stored-project.ts';
import { type GraphDatabase, openGraphFile, readFact, writeFact } from '../store/graph-file.ts';
import { unpackFacts } from '../store/pack.ts';
import { createGraphRows, type FileRow } from '../store/rows.ts';
import { createDependentMarker } from './mark-dependents.ts';
import { createParsePool } from './parse-pool.ts';
import type { ReadFacts } from './read-facts.ts';

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

/** After this many files or this much time, others get a turn and the work is committed. */
const BATCH = 100;
const BATCH_MS = 50;
/** Symbol ids of this many files are cached while references are resolved. */
const MOST_HELD_IDS = 2000;
const MOST_MANIFEST_BYTES = 1024 * 1024;

/** Keeps a graph.db up to date with the files of a folder. */
export function createIndexer({ root, file, git, parsers, without }: IndexerOptions): FileIndexer {
  const top = realpathSync.native(root);
  const db = openGraphFile(file, JSON.stringify({ parsers }));
  const rows = createGraphRows(db);
  const exact = createExactEdges(db);
  const pool = createParsePool();
  const languageOf = createLanguageTable(parsers);
  let manifests: string[] = [];
  const project = createStoredProject(db, rows, {
    list: () => manifests,
    read: (path) => readText(top, path, MOST_MANIFEST_BYTES),
  });
  let evaluator: ValueEvaluator;
  const rules = createNameRules(project, () => evaluator);
  evaluator = createEvaluator(project, rules);
  const resolver = createReferenceResolver(project, evaluator);

  const known = new Map<string, FileRow>();
  for (const row of rows.listFiles()) {
    known.set(row.path, row);
    project.addPath(row.path, row.id);
  }
  let skipped: SkipCounts = JSON.parse(readFact(db, 'skipped') ?? '{}');

  const marker = createDependentMarker(rows);
  /** Files written or removed in the open transaction. */
  let changed: { id: number; path: string }[] = [];
  const enqueue = createSerialQueue();

  const takeTurns = (): Promise<void> => new Promise((done) => setImmediate(done));

  /** Does work in transactions, each with the marks that it requires; others get a turn in between. */
  async function workInBatches<T>(
    all: readonly T[],
    work: (each: T) => void,
    report: (done: number) => void,
  ) {
    for (let done = 0; done < all.length; ) {
      done += writeBatch(all, done, work);
      report(done);
      if (done < all.length) await takeTurns();
    }
  }

  /** Works from a position on, within the limits of a batch; returns the number of finished items. */
  function writeBatch<T>(all: readonly T[], from: number, work: (each: T) => void): number {
    const until = performance.now() + BATCH_MS;
    let at = from;
    db.transaction(() => {
      do {
        work(all[at]!);
        at += 1;
      } while (at < Math.min(all.length, from + BATCH) && performance.now() < until);
      marker.flush();
      exact.drop(changed);
    })();
    changed = [];
    return at - from;
  }

  function removeFile(row: FileRow): void {
    marker.addChange(row.id, rows.readFacts(row.id), null);
    marker.addPath(row.path);
    changed.push(row);
    rows.removeFile(row.id);
    project.forget(row.id);
    project.removePath(row.path);
    known.delete(row.path);
  }

  function storeFile(
    path: string,
    language: SourceLanguage,
    read: ReadFacts,
    stat: { size: number; mtimeMs: number },
    isFirst: boolean,
  ): void {
    const old = known.get(path);
    if (read.state === 'gone') {
      if (old !== undefined) removeFile(old);
      return;
    }
    const before = old === undefined || isFirst ? null : rows.readFacts(old.id);
    const row = {
      path,
      language,
      hash: read.hash,
      size: read.facts === null ? stat.size : read.size,
      mtime: read.facts === null ? stat.mtimeMs : read.mtime,
      state: read.state,
    };
    const id = rows.writeFile(row, read.facts);
    project.forget(id);
    known.set(path, { ...row, id });
    if (old === undefined) project.addPath(path, id);
    // In a new index everything must be resolved anyway.
    if (isFirst) return;
    changed.push({ id, path });
    if (old === undefined) marker.addPath(path);
    marker.addChange(id, before, read.facts === null ? null : unpackFacts(read.facts.facts));
  }

  /** Reads the files in transactions of one batch each. */
  async function readFiles(
    files: readonly SourceFile[],
    isFull: boolean,
    report: (done: number) => void,
  ): Promise<number> {
    const isFirst = known.size === 0;
    const stats = new Map(files.map((each) => [each.path, each] as const));
    const waiting: (() => void)[] = [];
    let done = 0;
    let read = 0;
    const flushFacts = (): void => {
      while (waiting.length > 0)
        waiting.splice(
          0,
          writeBatch(waiting, 0, (write) => write()),
        );
      report(done);
    };
    const wanted = files.map(({ path, language }) => {
      const row = known.get(path);
      return { path, language, knownHash: isFull || row?.language !== language ? null : row.hash };
    });
    await pool.parseFiles(top, wanted, ({ path, language }, facts) => {
      const stat = stats.get(path)!;
      waiting.push(() => {
        if (facts !== 'same') {
          read += 1;
          storeFile(path, language, facts, stat, isFirst);
          return;
        }
        const row = known.get(path)!;
        rows.touchFile(row.id, stat.size, stat.mtimeMs);
        known.set(path, { ...row, size: stat.size, mtime: stat.mtimeMs });
      });
      done += 1;
      if (waiting.length >= BATCH) flushFacts();
    });
    flushFacts();
    return read;
  }

  function resolveOne(id: number): void {
    const view = project.view(id);
    if (view === null) {
      db.prepare('UPDATE file SET is_dirty = 0 WHERE id = ?').run(id);
      db.prepare('DELETE FROM edge WHERE from_file = ?').run(id);
      return;
    }
    const uses = project.begin();
    const references = rows.readReferences(id);
    const { edges, unresolved } = resolver.resolveFile({
      ...view,
      facts: { ...view.facts, references },
    });
    rows.writeEdges(id, edges, uses, unresolved, idsOf);
  }

  let ids = new Map<number, readonly number[]>();
  const idsOf = (id: number): readonly number[] => {
    const found = ids.get(id);
    if (found !== undefined) return found;
    const read = rows.symbolIds(id);
    ids.set(id, read);
    return read;
  };

  async function resolveDirty(report: (done: number, total: number) => void): Promise<number> {
    marker.reset();
    const dirty = rows.listDirty();
    ids = new Map();
    await workInBatches(dirty, resolveOne, (done) => {
      report(done, dirty.length);
      if (ids.size > MOST_HELD_IDS) ids = new Map();
    });
    return dirty.length;
  }

  /** Returns the content of all manifests as one text; a change may redirect every import. */
  function digestManifests(): string {
    const hash = createHash('sha256');
    for (const path of manifests) hash.update(`${path}\0${readText(top, path, MOST_MANIFEST_BYTES) ?? ''}\0`);
    return hash.digest('hex');
  }

  const isUnchanged = (
    row: FileRow | undefined,
    { size, mtimeMs }: { size: number; mtimeMs: number },
  ): boolean => row !== undefined && row.size === size && row.mtime === mtimeMs;

  async function refresh({
    progress = () => {},
    isFull = false,
  }: RefreshOptions = {}): Promise<RefreshResult> {
    const from = performance.now();
    const list = await listSources({ root: top, git, without, parsers });
    manifests = list.manifests;
    const digest = digestManifests();
    if (readFact(db, 'manifests') !== digest)
      db.transaction(() => {
        project.forgetManifests();
        rows.markAll();
        writeFact(db, 'manifests', digest);
      })();
    const paths = new Set(list.files.map(({ path }) => path));
    const gone = [...known.values()].filter(({ path }) => !paths.has(path));
    const wanted = list.files.filter((each) => isFull || !isUnchanged(known.get(each.path), each));
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
    refresh: (options) => enqueue(() => refresh(options)),
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
