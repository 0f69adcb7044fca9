import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { SvcError } from '../../base/errors.ts';
import { isInsideFolder } from '../../base/paths.ts';
import { makePrivateFolder } from '../../base/private-files.ts';
import type { GraphReply, GraphRequest, GraphView, Staleness } from './graph-thread.ts';
import type { IndexProgress, RefreshResult } from './index-files/indexer.ts';
import type { GraphAnswer, GraphQuestion } from './query/answer.ts';

export interface GraphDeps {
  /** The data folder, absolute. */
  data: string;
  env: NodeJS.ProcessEnv;
  settings(): GraphSettings;
  /** Absolute folder of a project; null is the workspace's own. Throws `unknown_project`. */
  folder(project: string | null): string;
  /** Where a worker session works; null for others. */
  sessionOf(sessionId: string): { project: string | null; cwd: string | null } | null;
}

export interface GraphSettings {
  parsers: Readonly<Record<string, string>>;
  /** Folders that are no part of a project: the data folder, the worktrees; absolute. */
  without: readonly string[];
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
}

export type Graph = ReturnType<typeof createGraph>;

/** A thread that nobody has asked for so long ends, with all that it holds. */
const IDLE_MS = 120_000;
/** How long an answer waits for files to be read. */
const PATIENCE_MS = 8000;
const MOST_MB = 384;
/** Indexes of worktrees that are kept. */
const MOST_WORKTREES = 8;

interface Waiting {
  done(reply: Extract<GraphReply, { answer: unknown } | { indexed: unknown }>): void;
  fail(error: unknown): void;
  progress(progress: IndexProgress): void;
}

type Work = GraphRequest['work'];

/** Owns the indexes of the workspace's code, in a thread that is there while somebody asks. */
export function createGraph(deps: GraphDeps) {
  const waiting = new Map<number, Waiting>();
  let thread: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;
  let last = 0;

  function startThread(): Worker {
    const made = new Worker(new URL('./graph-thread.js', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MOST_MB, stackSizeMb: 8 },
      env: { ...deps.env } as NodeJS.ProcessEnv,
    });
    made.unref();
    made.on('message', (reply: GraphReply) => {
      const asked = waiting.get(reply.id);
      if ('progress' in reply) return asked?.progress(reply.progress);
      waiting.delete(reply.id);
      if ('failed' in reply) asked?.fail(new SvcError('internal', `the code graph failed: ${reply.failed}`));
      else asked?.done(reply);
    });
    const end = (why: unknown): void => {
      if (thread !== made) return;
      thread = null;
      for (const each of waiting.values())
        each.fail(
          new SvcError(
            'internal',
            `the code graph's thread ended: ${why instanceof Error ? why.message : why}`,
          ),
        );
      waiting.clear();
    };
    made.on('error', end);
    made.on('exit', end);
    return made;
  }

  function rest(): void {
    clearTimeout(idle);
    idle = setTimeout(() => {
      if (waiting.size > 0) return rest();
      const ending = thread;
      thread = null;
      void ending?.terminate();
    }, IDLE_MS);
    idle.unref();
  }

  const indexFolder = (): string => join(deps.data, 'graph');

  function viewOf({ project, session }: GraphPlace): GraphView {
    const { parsers, without } = deps.settings();
    const worker = session === undefined ? null : deps.sessionOf(session);
    const owner = worker === null ? project : worker.project;
    const base = join(
      indexFolder(),
      `${owner === null ? 'workspace' : `project-${encodeURIComponent(owner)}`}.db`,
    );
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

  function send(
    place: GraphPlace,
    work: Work,
    progress: (progress: IndexProgress) => void = () => {},
    patienceMs = PATIENCE_MS,
  ): Promise<Parameters<Waiting['done']>[0]> {
    const view = viewOf(place);
    thread ??= startThread();
    rest();
    last += 1;
    const request: GraphRequest = { id: last, view, env: deps.env, patienceMs, work };
    return new Promise((done, fail) => {
      waiting.set(request.id, { done, fail, progress });
      thread!.postMessage(request);
    });
  }

  async function ask(place: GraphPlace, question: GraphQuestion, patienceMs?: number): Promise<AskedGraph> {
    const reply = await send(place, { question }, undefined, patienceMs);
    return reply as Extract<GraphReply, { answer: unknown }>;
  }

  const sharedPaths = (project: string | null): readonly string[] =>
    deps.settings().shared.get(project) ?? [];

  return {
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
        : `no symbol is called ${symbol}`;
    },
    /** Brings an index up to date, however long it takes. */
    async index(
      place: GraphPlace,
      isFull: boolean,
      progress: (progress: IndexProgress) => void,
    ): Promise<RefreshResult> {
      const reply = await send(place, { index: { isFull } }, progress);
      return (reply as Extract<GraphReply, { indexed: unknown }>).indexed;
    },
    async close(): Promise<void> {
      clearTimeout(idle);
      const ending = thread;
      thread = null;
      for (const each of waiting.values()) each.fail(new SvcError('cancelled', 'the engine stops'));
      waiting.clear();
      await ending?.terminate();
    },
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
