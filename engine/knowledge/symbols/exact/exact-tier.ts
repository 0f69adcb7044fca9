import { join, relative, sep } from 'node:path';
import type { Indexer, IndexProgress } from '../index-files/indexer.ts';
import type { ExactRun } from './exact-edges.ts';
import type { FileReferences } from './find-references.ts';
import { findTypescript } from './find-typescript.ts';
import { type CompilerLimits, runCompiler } from './run-compiler.ts';

/** How the compiler's process is started. */
export interface CompilerStart {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Why it is in no sandbox, a clause; null where it is in one. */
  unconfined: string | null;
}

/** Files that are written down at once. */
const BATCH = 50;

/** Has the project's own compiler look at the files that it has not seen as they are. Throws nothing: the run says why it failed. */
export async function runExactTier(
  indexer: Indexer,
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
      // It may say so of the files that were asked for, and of each once.
      if (!left.delete(toPath(file.path))) return;
      waiting.push(file);
      if (waiting.length >= BATCH) flush();
      options.progress({ phase: 'compile', done: wanted.length - left.size, total: wanted.length });
    },
  });
  flush();
  const run = { ...made, ms, peakMb, version: compiler.version, failed };
  // What has changed meanwhile is read again, and what was found through it is dropped.
  await indexer.refreshKnown(exact.listFiles());
  exact.end(run, failed === null ? [...left] : []);
  await indexer.resolveMarked();
  return run;
}
