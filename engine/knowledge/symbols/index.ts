import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { SvcError } from '../../core/base/errors.ts';
import { locateProgram } from '../../core/base/own-package.ts';
import { isInsideFolder } from '../../core/base/paths.ts';
import { makePrivateFolder } from '../../core/base/private-files.ts';
import { sentence } from '../../core/base/sentence.ts';
import { createThreadClient } from '../../core/base/thread-calls.ts';
import type { GitAccess } from '../../workers/runner/worktrees/index.ts';
import { createCompileRuns } from './compile-runs.ts';
import { describeLack } from './describe-exact.ts';
import type { ExactRun } from './exact/exact-edges.ts';
import type { ExactFacts, GraphCalls, GraphStaleness, GraphView } from './graph-thread.ts';
import type { IndexProgress, RefreshResult } from './index-files/indexer.ts';
import { listUnknownNames } from './known-names.ts';
import type { GraphAnswer, GraphQuestion } from './query/answer.ts';

export interface GraphDeps {
  /** The data folder, absolute. */
  data: string;
  git: GitAccess;
  settings(): GraphSettings;
  /** Returns absolute folder of a project; null is the workspace's own. Throws `unknown_project`. */
  folder(project: string | null): string;
  /** Returns the folder of a worker session; null for others. */
  sessionOf(sessionId: string): { project: string | null; cwd: string | null } | null;
  /** Minimum pause before a compiler runs again automatically. */
  leastPauseMs?: number;
}

export interface GraphSettings {
  parsers: Readonly<Record<string, string>>;
  /** Folders that do not belong to a project: the data folder, the worktrees; absolute. */
  without: readonly string[];
  /** True if a project's own compiler may run, and true if only in a sandbox. */
  exact: { isOn: boolean; mustConfine: boolean };
  /** Shared paths by project, relative to its folder; null is the workspace's own. */
  shared: ReadonlyMap<string | null, readonly string[]>;
}

/** The tree of a question: a session's own, or that of a project. */
export interface GraphPlace {
  project: string | null;
  session?: string | undefined;
  /** True if a caller named the session, which must exist then. */
  isNamed?: boolean;
}

export interface AskedGraph {
  answer: GraphAnswer;
  stale: GraphStaleness;
  /** Why edges of the project's compiler are missing or incomplete; null if they are complete or not needed. */
  exact: string | null;
  /** The known facts about the last run of the compiler. */
  compiled: ExactFacts;
}

export interface AskOptions {
  /** Milliseconds that the answer waits for files to be read. */
  patienceMs?: number;
  /** Maximum age of the last comparison with the whole folder, ms; files in the answer are always compared. */
  freshMs?: number;
  /** Called while files are read. */
  progress?(progress: IndexProgress): void;
}

export type Graph = ReturnType<typeof createGraph>;

/** How long an answer waits for files to be read. */
const PATIENCE_MS = 8000;
/** An index that was updated more recently is not compared with the whole folder again. */
const FRESH_MS = 1500;
/** Memory of the thread besides the parsers; a small young generation is half of the maximum during indexing. */
export const GRAPH_THREAD_LIMITS = {
  maxOldGenerationSizeMb: 384,
  maxYoungGenerationSizeMb: 16,
  stackSizeMb: 8,
} as const;
/** Maximum kept indexes of worktrees. */
const MOST_WORKTREES = 8;

/** Owns the indexes of the workspace's code, in a thread that lives while it is used. */
export function createGraph({ leastPauseMs, ...deps }: GraphDeps) {
  const thread = createThreadClient<GraphCalls>({
    program: locateProgram('graph-thread'),
    name: 'the code graph',
    idleMs: 120_000,
    // An aborted indexing starts again; a compiler is ended.
    closingMs: 200,
    limits: GRAPH_THREAD_LIMITS,
    env: deps.git.env,
    settings: () => deps.git,
  });

  const { isOfProject, compile, compileLater, findStartFailure } = createCompileRuns({
    env: deps.git.env,
    mustConfine: () => deps.settings().exact.mustConfine,
    leastPauseMs,
    compileInThread: (request, progress) => thread.call('compile', request, progress),
  });

  const indexFolder = (): string => join(deps.data, 'graph');

  const findIndexFile = (project: string | null): string =>
    join(indexFolder(), `${project === null ? 'workspace' : `project-${encodeURIComponent(project)}`}.db`);

  function viewOf({ project, session, isNamed }: GraphPlace): GraphView {
    const { parsers, without } = deps.settings();
    const worker = session === undefined ? null : deps.sessionOf(session);
    if (isNamed && worker === null)
      throw new SvcError('not_found', `no session ${JSON.stringify(session)}`, {
        hint: sentence`{session.list} lists them`,
      });
    const owner = worker === null ? project : worker.project;
    const base = findIndexFile(owner);
    makePrivateFolder(deps.data, indexFolder());
    // A session in the project's own folder, or without a worker, sees the project.
    if (worker?.cwd == null || !existsSync(worker.cwd) || worker.cwd === deps.folder(owner))
      return { root: deps.folder(owner), file: base, base: null, parsers, without };
    pruneWorktrees(indexFolder(), deps.sessionOf);
    const file = join(indexFolder(), `session-${encodeURIComponent(session!)}.db`);
    return { root: worker.cwd, file, base, parsers, without: [] };
  }

  async function askThread(
    place: GraphPlace,
    question: GraphQuestion,
    { patienceMs = PATIENCE_MS, freshMs = FRESH_MS, progress }: AskOptions = {},
  ): Promise<AskedGraph> {
    const asked = { view: viewOf(place), patienceMs, freshMs, question };
    const { answer, stale, exact: compiled } = await thread.call('ask', asked, progress);
    const { isOn } = deps.settings().exact;
    if (isOn && stale === null && compiled.lacking > 0) compileLater(asked.view);
    const why = findStartFailure(asked.view);
    return {
      answer,
      stale,
      exact: (isOn && compiled.lacking > 0 ? why : null) ?? describeLack(compiled, isOn),
      compiled,
    };
  }

  const sharedPaths = (project: string | null): readonly string[] =>
    deps.settings().shared.get(project) ?? [];

  return {
    /** Reports whether a project was indexed before. */
    isIndexed: (project: string | null): boolean => existsSync(findIndexFile(project)),
    /** Shared paths of a project, relative to its folder; empty for none. */
    sharedPaths,
    /** Queries a project or a session's worktree. Changes are read first, up to a time limit. */
    ask: askThread,
    /** Returns the location of a shared symbol of a project, relative to its folder; otherwise why none matches, as a clause. */
    async locateShared(
      symbol: string,
      project: string | null,
    ): Promise<{ path: string; line: number } | string> {
      const only = sharedPaths(project);
      if (only.length === 0) return 'no paths are shared there';
      const { answer } = await askThread({ project }, { ask: 'inspect', symbol, only: [...only] });
      if ('empty' in answer) return answer.reason;
      return 'references' in answer
        ? { path: answer.symbol.path, line: answer.symbol.line }
        : `no symbol is named ${symbol}`;
    },
    /** Returns the names that no existing index of a project knows; null if there is none, without creating one. */
    listUnknownNames: (names: readonly string[]) => listUnknownNames(indexFolder(), names),
    /** Brings an index up to date without a time limit. */
    index: async (
      place: GraphPlace,
      isFull: boolean,
      progress: (progress: IndexProgress) => void,
    ): Promise<RefreshResult> => thread.call('index', { view: viewOf(place), isFull }, progress),
    /** Runs the project's own compiler on files that it has not processed. Throws `config_invalid` if that is off. */
    async compile(place: GraphPlace, progress: (progress: IndexProgress) => void): Promise<ExactRun> {
      if (!deps.settings().exact.isOn) throw compilerOffError();
      const view = viewOf(place);
      if (!isOfProject(view))
        throw new SvcError('fields_invalid', 'the compiler analyses a project, never a worktree');
      return compile(view, progress);
    },
    close: thread.close,
  };
}

/** Removes indexes of removed worktrees, and the oldest above the maximum. */
function pruneWorktrees(folder: string, sessionOf: GraphDeps['sessionOf']): void {
  const names = readdirSync(folder).filter((name) => /^session-.*\.db$/.test(name));
  const isGraphGone = (name: string): boolean => {
    const cwd = sessionOf(decodeURIComponent(name.slice('session-'.length, -'.db'.length)))?.cwd;
    return cwd == null || !existsSync(cwd);
  };
  const gone = names.filter(isGraphGone);
  const kept = names.filter((name) => !gone.includes(name));
  for (const name of [...gone, ...kept.slice(0, Math.max(0, kept.length - MOST_WORKTREES))])
    for (const suffix of ['', '-wal', '-shm', '.next', '.next-wal', '.next-shm'])
      rmSync(join(folder, name + suffix), { force: true });
}

const compilerOffError = (): SvcError =>
  new SvcError(
    'config_invalid',
    'graph.exact is off: the typescript of a repository is code of that repository',
    { hint: 'set graph.exact to true in svc.yaml, and agree to it with svc trust' },
  );

/**
 * Groups shared paths by their innermost project; null is the workspace's own folder.
 * @param root the workspace's folder, which the paths are relative to
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
