import type { SourceFile, SourceLanguage } from '../../sources/index.ts';
import type { ExactEdges } from '../exact/exact-edges.ts';
import type { StoredProject } from '../resolve/stored-project.ts';
import type { GraphDatabase } from '../store/graph-file.ts';
import { unpackFacts } from '../store/pack.ts';
import type { FileRow, GraphRows } from '../store/rows.ts';
import { BATCH, type BatchWriter, createBatchWriter } from './batches.ts';
import { createDependentMarker } from './mark-dependents.ts';
import { createParsePool } from './parse-pool.ts';
import type { ReadFacts } from './read-facts.ts';

/** Stores the result for a read file. @param isFirst true for a new index */
type StoreFile = (
  path: string,
  language: SourceLanguage,
  read: ReadFacts,
  stat: { size: number; mtimeMs: number },
  isFirst: boolean,
) => void;

/** Creates the files of an index: what is stored of them, and the reading of changed ones. */
export function createIndexedFiles({
  db,
  rows,
  project,
  exact,
  top,
}: {
  db: GraphDatabase;
  rows: GraphRows;
  project: StoredProject;
  exact: Pick<ExactEdges, 'drop'>;
  /** The project's folder, with links resolved. */
  top: string;
}) {
  const pool = createParsePool();
  const known = new Map<string, FileRow>();
  for (const row of rows.listFiles()) {
    known.set(row.path, row);
    project.addPath(row.path, row.id);
  }
  const marker = createDependentMarker(rows);
  /** Files written or removed in the open transaction. */
  let changed: { id: number; path: string }[] = [];
  const { workInBatches, writeBatch } = createBatchWriter(db, {
    flush() {
      marker.flush();
      exact.drop(changed);
    },
    forget() {
      changed = [];
    },
  });

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

  const readFiles = createFileReader({ known, rows, pool, storeFile, writeBatch, top });

  return { known, pool, marker, workInBatches, removeFile, readFiles };
}

/** Creates the reading of files, which are parsed in threads and stored in batches. */
function createFileReader({
  known,
  rows,
  pool,
  storeFile,
  writeBatch,
  top,
}: {
  known: Map<string, FileRow>;
  rows: Pick<GraphRows, 'touchFile'>;
  pool: ReturnType<typeof createParsePool>;
  storeFile: StoreFile;
  writeBatch: BatchWriter['writeBatch'];
  top: string;
}) {
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

  return readFiles;
}
