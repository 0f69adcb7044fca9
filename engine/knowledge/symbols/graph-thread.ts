import { copyFileSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { workerData } from 'node:worker_threads';
import { settleWithin } from '../../core/base/settle-within.ts';
import { answerThreadCalls } from '../../core/base/thread-calls.ts';
import { createGit, type GitAccess } from '../../workers/runner/worktrees/index.ts';
import type { ExactCounts, ExactRun } from './exact/exact-edges.ts';
import type { CompilerLimits } from './exact/run-compiler.ts';
import type { CompilerStart } from './exact/start-compiler.ts';
import { runExactTier } from './exact-tier.ts';
import {
  createIndexer,
  type FileIndexer,
  type IndexProgress,
  type RefreshResult,
} from './index-files/indexer.ts';
import { replaceIndex } from './index-files/replace-index.ts';
import { answerQuestion, type GraphAnswer, type GraphQuestion } from './query/answer.ts';

/** A tree of files with its index. */
export interface GraphView {
  root: string;
  /** The file of its index. */
  file: string;
  /** The index of the same project elsewhere, as a start for a new one; null for none. */
  base: string | null;
  parsers: Readonly<Record<string, string>>;
  without: readonly string[];
}

/** The calls of the thread. */
export interface GraphCalls {
  /**
   * An answer after waiting up to the given time, ms, for the index to be up to date. The whole folder is not
   * compared again if that was done within the second time, ms, and took a fair part of it.
   */
  ask: {
    takes: {
      view: GraphView;
      patienceMs: number;
      freshMs: number;
      question: GraphQuestion;
    };
    answers: { answer: GraphAnswer; stale: GraphStaleness; exact: ExactFacts };
    tells: IndexProgress;
  };
  /** Brings an index up to date without a time limit. */
  index: { takes: { view: GraphView; isFull: boolean }; answers: RefreshResult; tells: IndexProgress };
  /** Runs the project's compiler on files that it has not processed. Joins a run in progress. */
  compile: {
    takes: { view: GraphView; start: CompilerStart; limits: CompilerLimits };
    answers: ExactRun;
    tells: IndexProgress;
  };
}

/** The part of a tree that the project's compiler has processed. */
export interface ExactFacts extends ExactCounts {
  run: ExactRun | null;
  /** The progress of a current run. */
  running: IndexProgress | null;
}

/** Why an answer may be outdated; null if it is current. */
export type GraphStaleness = { indexing: IndexProgress } | { changing: string[] } | null;

/** Time limit for comparing the files that an answer names, in addition to earlier waiting. */
const LEAST_PATIENCE_MS = 500;
/** Maximum retries of an answer because its files have changed. */
const MOST_TRIES = 3;
const MOST_OPEN = 8;
/** A folder is compared again after this multiple of the last duration: immediately if it is small. */
const COMPARING_TIMES = 2;

interface OpenView {
  indexer: FileIndexer;
  /** Opens an index of this folder in a file. */
  openIndex(file: string): FileIndexer;
  /** True for a project, false for a worktree of a session. */
  isOfProject: boolean;
  /** Answers and runs of the compiler that are using the index. */
  uses: Set<Promise<unknown>>;
  isCompiling: boolean;
  /** Resolves when a current refresh turns out to be a large change, which takes long. */
  large: PromiseWithResolvers<void>;
  /** Start of the last comparison with the whole folder, by the monotonic clock. */
  at: number;
  /** Its duration, ms. */
  comparingMs: number;
  refreshing: Promise<RefreshResult> | null;
  progress: IndexProgress;
  compiling: { run: Promise<ExactRun>; progress: IndexProgress; end: AbortController } | null;
  listeners: Set<(progress: IndexProgress) => void>;
  /** The file of the index when it was opened. */
  inode: number | null;
}

const { git, close: closeGit } = createGit(workerData as GitAccess);
const open = new Map<string, OpenView>();

async function openView(view: GraphView): Promise<OpenView> {
  const key = JSON.stringify([view.root, view.file, view.parsers]);
  const known = open.get(key);
  if (known !== undefined && isGone(known, view)) forgetView(key, known);
  else if (known !== undefined) {
    open.delete(key);
    open.set(key, known);
    return known;
  }
  if (view.base !== null && !existsSync(view.file) && existsSync(view.base)) copyIndex(view.base, view.file);
  const { root, file, parsers, without } = view;
  const openIndex = (own: string): FileIndexer => createIndexer({ root, file: own, git, parsers, without });
  const made: OpenView = {
    indexer: openIndex(file),
    openIndex,
    isOfProject: view.base === null,
    uses: new Set(),
    isCompiling: false,
    large: Promise.withResolvers(),
    at: Number.NEGATIVE_INFINITY,
    comparingMs: 0,
    refreshing: null,
    progress: { phase: 'read', done: 0, total: 0 },
    compiling: null,
    listeners: new Set(),
    inode: readInode(file),
  };
  open.set(key, made);
  for (const [oldest, each] of open) {
    if (open.size <= MOST_OPEN) break;
    const isInUse = each.refreshing !== null || each.compiling !== null || each.listeners.size > 0;
    if (isInUse || oldest === key) continue;
    open.delete(oldest);
    await each.indexer.close();
  }
  return made;
}

const readInode = (file: string): number | null => statSync(file, { throwIfNoEntry: false })?.ino ?? null;

/** Reports whether the file of an open index was deleted or replaced. */
const isGone = ({ inode }: OpenView, { file }: GraphView): boolean => readInode(file) !== inode;

/** Closes an index whose file is gone, after its work has ended. */
function forgetView(key: string, view: OpenView): void {
  open.delete(key);
  view.compiling?.end.abort();
  void Promise.allSettled([view.refreshing, view.compiling?.run]).then(() => view.indexer.close());
}

/** Does work on an index again if its file disappears during it. */
async function retryIfGone<T>(wanted: GraphView, work: (view: OpenView) => Promise<T>): Promise<T> {
  const view = await openView(wanted);
  return work(view).catch(async (error: unknown) => {
    if (!isGone(view, wanted)) throw error;
    mkdirSync(dirname(wanted.file), { recursive: true, mode: 0o700 });
    return work(await openView(wanted));
  });
}

/** Copies an index: a worktree starts with the index of its origin, and only reads the differences. */
function copyIndex(from: string, to: string): void {
  try {
    // A copy during a write would be incomplete; a damaged one is rebuilt.
    const source = [...open.values()].find(({ indexer }) => indexer.db.name === from);
    source?.indexer.db.pragma('wal_checkpoint(TRUNCATE)');
    if (source?.refreshing == null) copyFileSync(from, to);
  } catch {
    rmSync(to, { force: true });
  }
}

function startRefresh(view: OpenView, isFull: boolean): Promise<RefreshResult> {
  const runRefresh = async (): Promise<RefreshResult> => {
    await view.refreshing?.catch(() => undefined);
    const at = performance.now();
    const progress = (progress: IndexProgress): void => {
      view.progress = progress;
      for (const listener of view.listeners) listener(progress);
    };
    const result =
      (await (isFull
        ? view.indexer.refresh({ isFull, progress })
        : view.indexer.refreshUnlessLarge({ progress }))) ?? (await refreshLargely(view, progress));
    view.at = at;
    view.comparingMs = result.comparingMs;
    return { ...result, ms: performance.now() - at };
  };
  const refreshing = runRefresh().finally(() => {
    if (view.refreshing === refreshing) view.refreshing = null;
  });
  view.refreshing = refreshing;
  return refreshing;
}

/** Keeps the open index while it is used. */
async function holdIndex<T>(view: OpenView, use: (indexer: FileIndexer) => Promise<T>): Promise<T> {
  const using = use(view.indexer);
  view.uses.add(using);
  try {
    return await using;
  } finally {
    view.uses.delete(using);
  }
}

/** Replaces the index after a large change; until then the index answers as it is. */
async function refreshLargely(
  view: OpenView,
  progress: (progress: IndexProgress) => void,
): Promise<RefreshResult> {
  view.large.resolve();
  try {
    const filled = await replaceIndex({
      file: view.indexer.db.name,
      root: view.indexer.root,
      isKept: view.isOfProject,
      openIndex: view.openIndex,
      fill: (next) => next.refresh({ progress }),
      async exchange(move) {
        const old = view.indexer;
        if (view.isCompiling) view.compiling?.end.abort();
        while (view.uses.size > 0) await Promise.allSettled(view.uses);
        const { name } = old.db;
        old.db.close();
        move();
        view.indexer = view.openIndex(name);
        view.inode = readInode(name);
        await old.close();
      },
    });
    const last = await view.indexer.refresh({ progress });
    return filled ?? last;
  } finally {
    view.large = Promise.withResolvers();
  }
}

const waitFor = async (work: Promise<unknown>, ms: number): Promise<boolean> =>
  (await settleWithin(
    ms,
    work.then(() => true),
  )) ?? false;

async function answer({
  view: wanted,
  question,
  patienceMs,
  freshMs,
}: GraphCalls['ask']['takes']): Promise<GraphCalls['ask']['answers']> {
  const view = await openView(wanted);
  const answerNow = () => holdIndex(view, (indexer) => answerQuestion(indexer, question, git));
  const begin = performance.now();
  const until = begin + patienceMs;
  const isNew = (path: string): boolean =>
    !view.indexer.hasFile(path) && view.indexer.languageOf(path) !== null;
  let maxAgeMs = Math.min(freshMs, view.comparingMs * COMPARING_TIMES);
  for (let tries = 1; ; tries += 1) {
    if (!(await waitForFresh(view, begin - maxAgeMs, until))) {
      const { answer: early } = await answerNow();
      return { answer: early, stale: { indexing: view.progress }, exact: readExact(view) };
    }
    const { answer: made, names } = await answerNow();
    // A missing file may have been written just now.
    if (view.at < begin && (isNothing(made) || [...names].some(isNew))) {
      maxAgeMs = 0;
      continue;
    }
    // Queued after reads in progress.
    const reading = holdIndex(view, (indexer) => indexer.refreshKnown(names));
    if (!(await waitFor(reading, Math.max(until - performance.now(), LEAST_PATIENCE_MS))))
      return { answer: made, stale: { indexing: view.progress }, exact: readExact(view) };
    const changed = await reading;
    const exact = readExact(view);
    if (changed === 0) return { answer: made, stale: null, exact };
    if (tries === MOST_TRIES) return { answer: made, stale: { changing: [...names].slice(0, 5) }, exact };
  }
}

const isNothing = (answer: GraphAnswer): boolean =>
  'empty' in answer || ('symbols' in answer && answer.symbols.length === 0);

/** Waits for the index to match the folder at a given time or later, up to a deadline; both by the monotonic clock. */
async function waitForFresh(view: OpenView, since: number, until: number): Promise<boolean> {
  while (view.at < since) {
    const refreshing = view.refreshing ?? startRefresh(view, false);
    const isLarge = view.large.promise.then(() => false);
    const isDone = waitFor(refreshing, until - performance.now());
    if (!(await Promise.race([isDone, isLarge]))) return false;
  }
  return true;
}

const readExact = ({ indexer, compiling }: OpenView): ExactFacts => ({
  ...indexer.exact.count(),
  run: indexer.exact.lastRun(),
  running: compiling?.progress ?? null,
});

function startCompiler(view: OpenView, start: CompilerStart, limits: CompilerLimits): Promise<ExactRun> {
  if (view.compiling !== null) return view.compiling.run;
  const end = new AbortController();
  const progress: IndexProgress = { phase: 'compile', done: 0, total: 0 };
  const run = startRefresh(view, false)
    .then(() => {
      view.isCompiling = true;
      return holdIndex(view, (indexer) =>
        runExactTier(indexer, start, limits, {
          signal: end.signal,
          progress(at) {
            Object.assign(progress, at);
            for (const listener of view.listeners) listener(at);
          },
        }),
      );
    })
    .finally(() => {
      view.isCompiling = false;
      view.compiling = null;
    });
  view.compiling = { run, progress, end };
  return run;
}

/** Reports the progress of an index to a waiting caller. */
async function listenWhile<T>(
  view: OpenView,
  listener: (progress: IndexProgress) => void,
  work: () => Promise<T>,
): Promise<T> {
  view.listeners.add(listener);
  return work().finally(() => view.listeners.delete(listener));
}

answerThreadCalls<GraphCalls>(
  {
    async ask(asked, tell) {
      return retryIfGone(asked.view, (view) => listenWhile(view, tell, () => answer(asked)));
    },
    async index({ view: wanted, isFull }, tell) {
      return retryIfGone(wanted, (view) => listenWhile(view, tell, () => startRefresh(view, isFull)));
    },
    async compile({ view: wanted, start, limits }, tell) {
      const view = await openView(wanted);
      return listenWhile(view, tell, () => startCompiler(view, start, limits));
    },
  },
  () => {
    closeGit();
    // A compiler would continue without a listener.
    for (const { compiling } of open.values()) compiling?.end.abort();
  },
);
