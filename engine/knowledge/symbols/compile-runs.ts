import { realpathSync } from 'node:fs';
import { asSvcError } from '../../core/base/errors.ts';
import type { ExactRun } from './exact/exact-edges.ts';
import { buildCompilerStart, COMPILER_LIMITS } from './exact/start-compiler.ts';
import type { GraphView } from './graph-thread.ts';
import type { IndexProgress } from './index-files/indexer.ts';

const PAUSE_AFTER_FAILURE_MS = 600_000;
/** An automatic run is followed by a pause of this multiple of its duration. */
const PAUSE_TIMES = 5;
const LEAST_PAUSE_MS = 30_000;

interface CompileRunDeps {
  /** The environment of the compiler's process. */
  env: NodeJS.ProcessEnv;
  /** Reports whether a compiler must run in a sandbox. */
  mustConfine(): boolean;
  /** The shortest pause after a run. */
  leastPauseMs: number | undefined;
  compileInThread(
    request: {
      view: GraphView;
      start: Awaited<ReturnType<typeof buildCompilerStart>>;
      limits: typeof COMPILER_LIMITS;
    },
    progress?: (progress: IndexProgress) => void,
  ): Promise<ExactRun>;
}

/** Creates the runs of the projects' own compilers, on request or in the background. */
export function createCompileRuns({
  env,
  mustConfine,
  leastPauseMs = LEAST_PAUSE_MS,
  compileInThread,
}: CompileRunDeps) {
  /** Why a compiler could not be started, by index, as a clause. */
  const startFailures = new Map<string, string>();

  /** The time from which a compiler may run again automatically, by index and the monotonic clock. */
  const nextRuns = new Map<string, number>();

  /**
   * Reports whether a view is a project: files that a worker can write are not run for it outside its sandbox, and a
   * worktree uses the project's results.
   */
  const isOfProject = ({ base }: GraphView): boolean => base === null;

  async function compile(view: GraphView, progress?: (progress: IndexProgress) => void): Promise<ExactRun> {
    nextRuns.set(view.file, Number.POSITIVE_INFINITY);
    let pause = PAUSE_AFTER_FAILURE_MS;
    try {
      const folder = realpathSync.native(view.root);
      const start = await buildCompilerStart(
        { folder, without: view.without, mustConfine: mustConfine() },
        env,
      );
      startFailures.delete(view.file);
      const run = await compileInThread({ view, start, limits: COMPILER_LIMITS }, progress);
      if (run.failed === null) pause = Math.max(leastPauseMs, run.ms * PAUSE_TIMES);
      return run;
    } catch (error) {
      startFailures.set(view.file, `failed: ${asSvcError(error).message}`);
      throw error;
    } finally {
      nextRuns.set(view.file, performance.now() + pause);
    }
  }

  /** Runs in the background and takes a small part of the time. */
  function compileLater(view: GraphView): void {
    if (!isOfProject(view) || performance.now() < (nextRuns.get(view.file) ?? 0)) return;
    compile(view).catch(() => undefined);
  }

  return {
    isOfProject,
    compile,
    compileLater,
    /** Returns why the compiler of a view could not be started, as a clause; null if it could. */
    findStartFailure: ({ file }: GraphView): string | null => startFailures.get(file) ?? null,
  };
}
