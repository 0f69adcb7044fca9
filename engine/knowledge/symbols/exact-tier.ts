import { join, relative, sep } from 'node:path';
import type { ExactRun } from './exact/exact-edges.ts';
import type { FileReferences } from './exact/find-references.ts';
import { findTypescript } from './exact/find-typescript.ts';
import { type CompilerLimits, runCompiler } from './exact/run-compiler.ts';
import type { CompilerStart } from './exact/start-compiler.ts';
import type { FileIndexer, IndexProgress } from './index-files/indexer.ts';

/** Files that are written in one batch. */
const BATCH = 50;

/**
 * Runs the project's own compiler on files that it has not processed in their current state. Never throws: the run
 * contains the error.
 */
export async function runExactTier(
  indexer: FileIndexer,
  start: CompilerStart,
  limits: CompilerLimits,
  options: { signal: AbortSignal; progress(progress: IndexProgress): void },
): Promise<ExactRun> {
  const { root, exact } = indexer;
  const compiler = findTypescript(root, indexer.listManifests());
  const made = { at: Date.now(), ms: 0, peakMb: 0, raised: 0, added: 0, unconfined: start.unconfined };
  if (typeof compiler === 'string') {
    const none = { ...made, version: '', failed: compiler };
    exact.end(none, []);
    return none;
  }
  const wanted = exact.listLacking();
  const left = new Set(wanted);
  const toPath = (absolute: string): string => relative(root, absolute).split(sep).join('/');
  const waiting: FileReferences[] = [];
  const flush = (): void => {
    const { raised, added } = exact.write(waiting.splice(0), toPath);
    made.raised += raised;
    made.added += added;
  };
  exact.begin();
  const { failed, ms, peakMb } = await runCompiler({
    argv: start.argv,
    env: start.env,
    order: {
      root,
      compiler: compiler.folder,
      files: exact.listFiles().map((path) => join(root, path)),
      wanted: wanted.map((path) => join(root, path)),
    },
    limits,
    signal: options.signal,
    onFile(file) {
      // It may only report requested files, each once.
      if (!left.delete(toPath(file.path))) return;
      waiting.push(file);
      if (waiting.length >= BATCH) flush();
      options.progress({ phase: 'compile', done: wanted.length - left.size, total: wanted.length });
    },
  });
  flush();
  const run = { ...made, ms, peakMb, version: compiler.version, failed };
  // Files that changed in the meantime are read again, and results found through them are dropped.
  await indexer.refreshKnown(exact.listFiles());
  exact.end(run, failed === null ? [...left] : []);
  await indexer.resolveMarked();
  return run;
}
