import { createHash } from 'node:crypto';
import { lstatSync, realpathSync } from 'node:fs';
import { join, posix } from 'node:path';
import {
  countSkipped,
  createLanguageTable,
  type Language,
  listSources,
  readText,
  type SkipCounts,
  type SourceFile,
} from '../../sources/index.ts';
import { createExactEdges, type ExactEdges } from '../exact/exact-edges.ts';
import type { FileFacts } from '../facts.ts';
import { createEvaluator, type Evaluator } from '../resolve/evaluate.ts';
import { createNameRules } from '../resolve/name-rules.ts';
import type { FileView } from '../resolve/project.ts';
import { createReferenceResolver } from '../resolve/references.ts';
import { ANY_FILE, ANY_PATH, createStoredProject, MEMBER_KINDS } from '../resolve/stored-project.ts';
import { digestFacts, hashName, listChangedNames } from '../store/digest.ts';
import { type GraphDatabase, openGraphFile, readFact, writeFact } from '../store/graph-file.ts';
import { unpackFacts } from '../store/pack.ts';
import { createGraphRows, type FileRow } from '../store/rows.ts';
import { createParsePool } from './parse-pool.ts';
import type { ReadFacts } from './read-facts.ts';

export interface IndexerOptions {
  /** The project's folder, absolute. */
  root: string;
  /** The file of the index. */
  file: string;
  env: NodeJS.ProcessEnv;
  parsers: Readonly<Record<string, string>>;
  without: readonly string[];
}

/** How far a long refresh has come. */
export interface IndexProgress {
  phase: 'read' | 'resolve' | 'compile';
  done: number;
  total: number;
}

export interface RefreshOptions {
  progress?(progress: IndexProgress): void;
  /** Read again also what looks unchanged. */
  isFull?: boolean;
}

export interface RefreshResult {
  /** Files that were read again, and those that are not there any more. */
  read: number;
  removed: number;
  resolved: number;
  ms: number;
}

export interface Indexer {
  readonly db: GraphDatabase;
  /** The project's folder, links followed. */
  readonly root: string;
  /** Brings the index to the state of the folder. */
  refresh(options?: RefreshOptions): Promise<RefreshResult>;
  /** Compares files that are known with the disk, and reads again what has changed; finds no new ones. Returns how many. */
  refreshKnown(paths: Iterable<string>): Promise<number>;
  /** The edges that the project's compiler knows. */
  readonly exact: ExactEdges;
  /** Resolves the references of files that were marked. */
  resolveMarked(): Promise<number>;
  languageOf(path: string): Language | null;
  skipped(): SkipCounts;
  hasFile(path: string): boolean;
  listPaths(): string[];
  /** Paths of package.json, tsconfig.json and the like. */
  listManifests(): readonly string[];
  /** Files whose references are not resolved yet. */
  countDirty(): number;
  close(): Promise<void>;
}

/** Between two such many files others have a turn, and what was done is on the disk. */
const BATCH = 200;
const MOST_MANIFEST_BYTES = 1024 * 1024;

/** Keeps a graph.db as the files of a folder are. */
export function createIndexer({ root, file, env, parsers, without }: IndexerOptions): Indexer {
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
  let evaluator: Evaluator;
  const rules = createNameRules(project, () => evaluator);
  evaluator = createEvaluator(project, rules);
  const resolver = createReferenceResolver(project, evaluator);

  const known = new Map<string, FileRow>();
  for (const row of rows.listFiles()) {
    known.set(row.path, row);
    project.addPath(row.path, row.id);
  }
  let skipped: SkipCounts = JSON.parse(readFact(db, 'skipped') ?? '{}');

  const takeTurns = (): Promise<void> => new Promise((done) => setImmediate(done));

  function markPath(path: string): void {
    const parts = path.split('/');
    const names = [...parts.slice(0, -1), posix.basename(path).replace(/\.[^.]+$/, '')];
    // An index or __init__ may stand for its folder.
    for (const name of new Set(names)) rows.markDependents(ANY_PATH, hashName(name));
  }

  const describeMembers = (facts: FileFacts | null): Map<string, string> => {
    const counts = new Map<string, string[]>();
    for (const { kind, name, parent } of facts?.symbols ?? []) {
      if (!MEMBER_KINDS.includes(kind)) continue;
      const known = counts.get(name);
      const said = `${kind} ${facts?.symbols[parent]?.kind ?? ''}`;
      if (known === undefined) counts.set(name, [said]);
      else known.push(said);
    }
    return new Map([...counts].map(([name, kinds]) => [name, kinds.sort().join()]));
  };

  /** Marks what depends on names that mean something else now. */
  function markChanges(id: number, before: FileFacts | null, after: FileFacts | null): void {
    const digests = [before, after].map((facts) =>
      facts === null ? new Map<string, string>() : digestFacts(facts),
    );
    for (const name of listChangedNames(digests[0]!, digests[1]!)) rows.markDependents(id, hashName(name));
    for (const name of listChangedNames(describeMembers(before), describeMembers(after)))
      rows.markDependents(ANY_FILE, hashName(name));
    const packages = new Set([before?.packageName, after?.packageName]);
    const isSame = packages.size === 1 && digests[0]!.size > 0 && digests[1]!.size > 0;
    // Names that a package gains or loses count for all of it.
    const names = listChangedNames(digests[0]!, digests[1]!);
    for (const name of packages)
      if (name !== undefined && (!isSame || names.length > 0))
        rows.markDependents(ANY_PATH, hashName(`package ${name}`));
  }

  function removeFile(row: FileRow): void {
    markChanges(row.id, rows.readFacts(row.id), null);
    exact.drop(row.id, row.path);
    markPath(row.path);
    rows.removeFile(row.id);
    project.forget(row.id);
    project.removePath(row.path);
    known.delete(row.path);
  }

  function storeFile(
    path: string,
    language: Language,
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
    // In a new index everything is to be resolved anyway.
    if (isFirst) return;
    exact.drop(id, path);
    if (old === undefined) markPath(path);
    markChanges(id, before, read.facts === null ? null : unpackFacts(read.facts.facts));
  }

  /** Reads the files, in transactions of a batch each. */
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
    const flush = (): void => {
      const work = waiting.splice(0);
      db.transaction(() => {
        for (const each of work) each();
      })();
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
      if (waiting.length >= BATCH) flush();
    });
    flush();
    return read;
  }

  /** A file that nobody has thought of has no edges, and is not the end of all others. */
  function resolveOrGiveUp(view: FileView): ReturnType<typeof resolver.resolveFile> {
    try {
      return resolver.resolveFile(view);
    } catch {
      return { edges: [], unresolved: view.facts.references.length };
    }
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
    const { edges, unresolved } = resolveOrGiveUp({ ...view, facts: { ...view.facts, references } });
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
    const dirty = rows.listDirty();
    ids = new Map();
    for (let at = 0; at < dirty.length; at += BATCH) {
      const batch = dirty.slice(at, at + BATCH);
      db.transaction(() => {
        for (const id of batch) resolveOne(id);
      })();
      report(Math.min(dirty.length, at + BATCH), dirty.length);
      if (ids.size > 2000) ids = new Map();
      if (dirty.length > BATCH) await takeTurns();
    }
    return dirty.length;
  }

  /** What the manifests say, as one text; another one means that every import may lead elsewhere. */
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
    const list = await listSources({ root: top, env, without, parsers });
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
    if (gone.length > 0)
      db.transaction(() => {
        for (const row of gone) removeFile(row);
      })();
    const changed = list.files.filter((each) => isFull || !isUnchanged(known.get(each.path), each));
    const read = await readFiles(changed, isFull, (done) =>
      progress({ phase: 'read', done, total: changed.length }),
    );
    // The threads hold much, and resolving takes as much again.
    await pool.rest();
    const resolved = await resolveDirty((done, total) => progress({ phase: 'resolve', done, total }));
    skipped = list.skipped;
    for (const { state } of known.values())
      if (state !== 'ok' && state !== 'slow' && state !== 'failed') countSkipped(skipped, state);
    writeFact(db, 'skipped', JSON.stringify(skipped));
    writeFact(db, 'at', String(Date.now()));
    return { read, removed: gone.length, resolved, ms: performance.now() - from };
  }

  return {
    db,
    root: top,
    refresh,
    exact,
    resolveMarked: () => resolveDirty(() => {}),
    languageOf,
    skipped: (): SkipCounts => skipped,
    async refreshKnown(paths: Iterable<string>): Promise<number> {
      const changed: SourceFile[] = [];
      const gone: FileRow[] = [];
      for (const path of paths) {
        const row = known.get(path);
        if (row === undefined) continue;
        const stat = lstatSync(join(top, path), { throwIfNoEntry: false });
        if (stat === undefined || !stat.isFile()) gone.push(row);
        else if (!isUnchanged(row, stat))
          changed.push({ path, language: row.language, size: stat.size, mtimeMs: stat.mtimeMs });
      }
      if (gone.length + changed.length === 0) return 0;
      db.transaction(() => {
        for (const row of gone) removeFile(row);
      })();
      await readFiles(changed, false, () => {});
      await resolveDirty(() => {});
      return gone.length + changed.length;
    },
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
