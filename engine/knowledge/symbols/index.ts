import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { locateProgram } from '../../core/base/own-package.ts';
import { isInsideFolder } from '../../core/base/paths.ts';
import { makePrivateFolder } from '../../core/base/private-files.ts';
import { createThreadClient } from '../../core/base/thread-calls.ts';
import type { GitAccess } from '../../workers/runner/worktrees/index.ts';
import { describeLack } from './exact/describe-exact.ts';
import type { ExactRun } from './exact/exact-edges.ts';
import { buildCompilerStart, COMPILER_LIMITS } from './exact/start-compiler.ts';
import type { ExactFacts, GraphCalls, GraphView, Staleness } from './graph-thread.ts';
import type { IndexProgress, RefreshResult } from './index-files/indexer.ts';
import { listUnknownNames } from './known-names.ts';
import type { GraphAnswer, GraphQuestion } from './query/answer.ts';

export interface GraphDeps {
  /** The data folder, absolute. */
  data: string;
  git: GitAccess;
  settings(): GraphSettings;
  /** Absolute folder of a project; null is the workspace's own. Throws `unknown_project`. */
  folder(project: string | null): string;
  /** Where a worker session works; null for others. */
  sessionOf(sessionId: string): { project: string | null; cwd: string | null } | null;
  /** How long a compiler rests at least before it is run again by itself. */
  leastPauseMs?: number;
}

export interface GraphSettings {
  parsers: Readonly<Record<string, string>>;
  /** Folders that are no part of a project: the data folder, the worktrees; absolute. */
  without: readonly string[];
  /** Whether a project's own compiler may be asked, and whether only in a sandbox. */
  exact: { isOn: boolean; mustConfine: boolean };
  /** Shared paths by project, relative to its folder; null is the workspace's own. */
  shared: ReadonlyMap<string | null, readonly string[]>;
}

/** Which tree is asked about: a session's own, or that of a project. */
export interface GraphPlace {
  project: string | null;
  session?: string | undefined;
}

export interface AskedGraph {
  answer: GraphAnswer;
  stale: Staleness;
  /** Why there are no edges of the project's compiler, or not all, in a few words; null where there are, or need not be. */
  exact: string | null;
  /** What of the compiler's last run is known. */
  compiled: ExactFacts;
}

export interface AskOptions {
  /** How long the answer waits for files to be read, ms. */
  patienceMs?: number;
  /** How long ago the index may have been compared with the whole folder, ms; the files that it names always are. */
  freshMs?: number;
  /** Told while files are read. */
  progress?(progress: IndexProgress): void;
}

export type Graph = ReturnType<typeof createGraph>;

/** How long an answer waits for files to be read. */
const PATIENCE_MS = 8000;
/** An index that was brought up to date less long ago is not compared with the whole folder again. */
const FRESH_MS = 1500;
/** A run by itself is followed by a pause of so many times its length. */
const PAUSE_TIMES = 5;
const LEAST_PAUSE_MS = 30_000;
const PAUSE_AFTER_FAILURE_MS = 600_000;
/** What the thread may hold, beside what parsers take; a small young generation is half of what indexing takes at its most. */
export const GRAPH_THREAD_LIMITS = {
  maxOldGenerationSizeMb: 384,
  maxYoungGenerationSizeMb: 16,
  stackSizeMb: 8,
} as const;
/** Indexes of worktrees that are kept. */
const MOST_WORKTREES = 8;

/** Owns the indexes of the workspace's code, in a thread that is there while somebody asks. */
export function createGraph({ leastPauseMs = LEAST_PAUSE_MS, ...deps }: GraphDeps) {
  const thread = createThreadClient<GraphCalls>({
    program: locateProgram('graph-thread'),
    name: 'the code graph',
    idleMs: 120_000,
    // What is being indexed is indexed anew; a compiler is ended.
    closingMs: 200,
    limits: GRAPH_THREAD_LIMITS,
    env: deps.git.env,
    settings: () => deps.git,
  });

  const indexFolder = (): string => join(deps.data, 'graph');

  const findIndexFile = (project: string | null): string =>
    join(indexFolder(), `${project === null ? 'workspace' : `project-${encodeURIComponent(project)}`}.db`);

  function viewOf({ project, session }: GraphPlace): GraphView {
    const { parsers, without } = deps.settings();
    const worker = session === undefined ? null : deps.sessionOf(session);
    const owner = worker === null ? project : worker.project;
    const base = findIndexFile(owner);
    makePrivateFolder(deps.data, indexFolder());
    // A session that works in the project's own folder, or is none of a worker, sees the project.
    if (worker?.cwd == null || !existsSync(worker.cwd) || worker.cwd === deps.folder(owner))
      return { root: deps.folder(owner), file: base, base: null, parsers, without };
    pruneWorktrees();
    const file = join(indexFolder(), `session-${encodeURIComponent(session!)}.db`);
    return { root: worker.cwd, file, base, parsers, without: [] };
  }

  /** Removes indexes of worktrees that are gone, and the oldest beyond a number. */
  function pruneWorktrees(): void {
    const names = readdirSync(indexFolder()).filter((name) => /^session-.*\.db$/.test(name));
    const isGone = (name: string): boolean => {
      const cwd = deps.sessionOf(decodeURIComponent(name.slice('session-'.length, -'.db'.length)))?.cwd;
      return cwd == null || !existsSync(cwd);
    };
    const gone = names.filter(isGone);
    const kept = names.filter((name) => !gone.includes(name));
    for (const name of [...gone, ...kept.slice(0, Math.max(0, kept.length - MOST_WORKTREES))])
      for (const suffix of ['', '-wal', '-shm']) rmSync(join(indexFolder(), name + suffix), { force: true });
  }

  async function ask(
    place: GraphPlace,
    question: GraphQuestion,
    { patienceMs = PATIENCE_MS, freshMs = FRESH_MS, progress }: AskOptions = {},
  ): Promise<AskedGraph> {
    const asked = { view: viewOf(place), patienceMs, freshMs, question };
    const { answer, stale, exact: compiled } = await thread.call('ask', asked, progress);
    const { isOn } = deps.settings().exact;
    if (isOn && stale === null && compiled.lacking > 0) compileLater(asked.view);
    const why = startFailures.get(asked.view.file) ?? null;
    return {
      answer,
      stale,
      exact: (isOn && compiled.lacking > 0 ? why : null) ?? describeLack(compiled, isOn),
      compiled,
    };
  }

  /** Why a compiler could not even be started, by index, a clause. */
  const startFailures = new Map<string, string>();
  /** When a compiler may run again by itself, by index and the monotonic clock. */
  const nextRuns = new Map<string, number>();

  /** What a worker can write is not run for it outside of its sandbox: a worktree has what the project was found to be. */
  const isOfProject = ({ base }: GraphView): boolean => base === null;

  async function compile(view: GraphView, progress?: (progress: IndexProgress) => void): Promise<ExactRun> {
    nextRuns.set(view.file, Number.POSITIVE_INFINITY);
    let pause = PAUSE_AFTER_FAILURE_MS;
    try {
      const folder = realpathSync.native(view.root);
      const { mustConfine } = deps.settings().exact;
      const start = await buildCompilerStart({ folder, without: view.without, mustConfine }, deps.git.env);
      startFailures.delete(view.file);
      const run = await thread.call('compile', { view, start, limits: COMPILER_LIMITS }, progress);
      if (run.failed === null) pause = Math.max(leastPauseMs, run.ms * PAUSE_TIMES);
      return run;
    } catch (error) {
      startFailures.set(view.file, `failed: ${asSvcError(error).message}`);
      throw error;
    } finally {
      nextRuns.set(view.file, performance.now() + pause);
    }
  }

  /** Nobody waits for it, and it takes a small part of the time. */
  function compileLater(view: GraphView): void {
    if (!isOfProject(view) || performance.now() < (nextRuns.get(view.file) ?? 0)) return;
    compile(view).catch(() => undefined);
  }

  const sharedPaths = (project: string | null): readonly string[] =>
    deps.settings().shared.get(project) ?? [];

  return {
    /** Whether a project was indexed before. */
    isIndexed: (project: string | null): boolean => existsSync(findIndexFile(project)),
    /** Shared paths of a project, relative to its folder; empty for none. */
    sharedPaths,
    /** Asks about a project, or a session's worktree. What has changed since is read first, for a while. */
    ask,
    /** Where a shared symbol of a project is, relative to its folder; else why none is meant, a clause. */
    async locateShared(
      symbol: string,
      project: string | null,
    ): Promise<{ path: string; line: number } | string> {
      const only = sharedPaths(project);
      if (only.length === 0) return 'no paths are shared there';
      const { answer } = await ask({ project }, { ask: 'inspect', symbol, only: [...only] });
      if ('empty' in answer) return answer.reason;
      return 'references' in answer
        ? { path: answer.symbol.path, line: answer.symbol.line }
        : `no symbol is named ${symbol}`;
    },
    /** Those of the names that no index of a project knows as it is on the disk; null when there is none, and none is made for it. */
    listUnknownNames: (names: readonly string[]) => listUnknownNames(indexFolder(), names),
    /** Brings an index up to date, however long it takes. */
    index: async (
      place: GraphPlace,
      isFull: boolean,
      progress: (progress: IndexProgress) => void,
    ): Promise<RefreshResult> => thread.call('index', { view: viewOf(place), isFull }, progress),
    /** Has the project's own compiler look at what it has not seen as it is. Throws `config_invalid` where that is off. */
    async compile(place: GraphPlace, progress: (progress: IndexProgress) => void): Promise<ExactRun> {
      if (!deps.settings().exact.isOn)
        throw new SvcError(
          'config_invalid',
          'graph.exact is off: the typescript of a repository is code of that repository',
          {
            hint: 'set graph.exact to true in svc.yaml, and agree to it with svc trust',
          },
        );
      const view = viewOf(place);
      if (!isOfProject(view))
        throw new SvcError('fields_invalid', 'the compiler analyses a project, never a worktree');
      return compile(view, progress);
    },
    close: thread.close,
  };
}

/**
 * Sorts shared paths by the project that they lie in, the innermost one; null is the workspace's own folder.
 * @param root the workspace's folder, at which the paths begin
 */
export function placeShared(
  root: string,
  shared: readonly string[],
  projects: readonly { id: string; folder: string }[],
): Map<string | null, string[]> {
  const placed = new Map<string | null, string[]>();
  const folders = [{ id: null, folder: root }, ...projects].sort(
    (one, other) => other.folder.length - one.folder.length,
  );
  for (const path of new Set(shared.filter((each) => each !== ''))) {
    const absolute = resolve(root, path);
    const owner = folders.find(({ folder }) => isInsideFolder(folder, absolute));
    if (owner === undefined) continue;
    const inside = relative(owner.folder, absolute).replaceAll('\\', '/') || '.';
    placed.set(owner.id, [...(placed.get(owner.id) ?? []), inside]);
  }
  return placed;
}
