import type { GraphDatabase } from '../store/graph-file.ts';
import { readFact, writeFact } from '../store/graph-file.ts';
import type { FileReferences } from './find-references.ts';
import { createExactWriter } from './write-exact.ts';

/** The last run of the compiler. */
export interface ExactRun {
  /** Of `typescript`. */
  version: string;
  /** Since 1970, ms. */
  at: number;
  ms: number;
  peakMb: number;
  /** Number of edges that were uncertain before, and of new ones. */
  raised: number;
  added: number;
  /** Why it ran without a sandbox, as a clause; null if it ran in one. */
  unconfined: string | null;
  /** Why it did not finish, as a clause; null if it did. */
  failed: string | null;
}

export interface ExactCounts {
  /** Files in languages of the compiler. */
  files: number;
  /** Files whose current content it has not processed. */
  lacking: number;
}

export type ExactEdges = ReturnType<typeof createExactEdges>;

/** Values of `file.exact`: not processed, edges stored, unknown to the compiler. */
const [, DONE, LEFT_OUT] = [0, 1, 2];
const COMPILED = "language IN ('typescript', 'tsx', 'javascript') AND state = 'ok'";

/**
 * Creates access to the edges from the project's compiler in a graph.db: the edges of a file stay while it and all
 * its imports are unchanged.
 */
export function createExactEdges(db: GraphDatabase) {
  const setState = db.prepare('UPDATE file SET exact = ? WHERE id = ?');
  const mark = db.prepare('UPDATE file SET is_dirty = 1 WHERE exact <> 0 AND is_dirty = 0 AND id = ?');
  const takeImporters = db.prepare('DELETE FROM exact_import WHERE on_file = ? RETURNING file').pluck();
  const all = db.prepare('UPDATE file SET is_dirty = 1 WHERE exact <> 0 AND is_dirty = 0');
  const fileId = db.prepare('SELECT id FROM file WHERE path = ?').pluck();
  const counts = db.prepare(
    `SELECT count(*) AS files, total(exact = 0 OR is_dirty) AS lacking FROM file WHERE ${COMPILED}`,
  );
  /** Files that have changed since the current run started. */
  let changed: Set<number> | null = null;

  const { writeEdges, forgetSymbols } = createExactWriter(db, (file) => void setState.run(DONE, file));

  /** Results of an aborted run belong to an unknown state of the files. */
  if (readFact(db, 'exact_begun') !== null)
    db.transaction(() => {
      all.run();
      forgetBegin();
    })();

  function forgetBegin(): void {
    db.prepare("DELETE FROM fact WHERE name = 'exact_begun'").run();
  }

  /**
   * Marks files and all files that import them; they are read again before their edges count, so the import relations
   * are forgotten.
   */
  function markImporters(files: Iterable<number>): void {
    const waiting = [...files];
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      mark.run(file);
      for (const importer of takeImporters.all(file) as number[]) waiting.push(importer);
    }
  }

  return {
    /** Handles files that changed or were removed: results found through them are no longer certain. */
    drop(files: readonly { id: number; path: string }[]): void {
      for (const { id } of files) changed?.add(id);
      // Its declarations may be global, without an import.
      if (files.some(({ path }) => path.endsWith('.d.ts'))) all.run();
      markImporters(files.map(({ id }) => id));
    },
    begin(): void {
      changed = new Set();
      forgetSymbols();
      writeFact(db, 'exact_begun', String(Date.now()));
    },
    write: (said: readonly FileReferences[], toPath: (absolute: string) => string) =>
      db.transaction(() =>
        said
          .map((each) => writeEdges(each, toPath))
          .reduce((sum, each) => ({ raised: sum.raised + each.raised, added: sum.added + each.added }), {
            raised: 0,
            added: 0,
          }),
      )(),
    /** Ends a run. @param leftOut requested files that the compiler does not have */
    end(run: ExactRun, leftOut: readonly string[]): void {
      db.transaction(() => {
        for (const path of leftOut) setState.run(LEFT_OUT, fileId.get(path));
        markImporters(changed ?? []);
        writeFact(db, 'exact', JSON.stringify(run));
        forgetBegin();
      })();
      changed = null;
      forgetSymbols();
    },
    count: (): ExactCounts => counts.get() as ExactCounts,
    lastRun(): ExactRun | null {
      const text = readFact(db, 'exact');
      return text === null ? null : (JSON.parse(text) as ExactRun);
    },
    listLacking: (): string[] =>
      db
        .prepare(`SELECT path FROM file WHERE ${COMPILED} AND exact = 0 ORDER BY path`)
        .pluck()
        .all() as string[],
    listFiles: (): string[] =>
      db.prepare(`SELECT path FROM file WHERE ${COMPILED} ORDER BY path`).pluck().all() as string[],
  };
}
