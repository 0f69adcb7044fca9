import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { answerThreadCalls } from '../../core/base/thread-calls.ts';
import { createGit, type GitAccess } from '../../workers/runner/worktrees/index.ts';
import type { ExactCounts, ExactRun } from './exact/exact-edges.ts';
import { type CompilerStart, runExactTier } from './exact/exact-tier.ts';
import type { CompilerLimits } from './exact/run-compiler.ts';
import {
  createIndexer,
  type Indexer,
  type IndexProgress,
  type RefreshResult,
} from './index-files/indexer.ts';
import { answerQuestion, type GraphAnswer, type GraphQuestion } from './query/answer.ts';

/** One tree of files with its index. */
export interface GraphView {
  root: string;
  /** Where its index is kept. */
  file: string;
  /** The index of the same project elsewhere, from which a new one begins; null for none. */
  base: string | null;
  parsers: Readonly<Record<string, string>>;
  without: readonly string[];
}

/** What is asked of the thread. */
export interface GraphCalls {
  /**
   * An answer, which waits so long for the index to be brought up to date, ms. Where it was compared with the whole folder at
   * most so long ago, ms, and that took a fair part of this time, it is not compared again.
   */
  ask: {
    takes: {
      view: GraphView;
      patienceMs: number;
      freshMs: number;
      question: GraphQuestion;
    };
    answers: { answer: GraphAnswer; stale: Staleness; exact: ExactFacts };
    tells: IndexProgress;
  };
  /** Brings an index up to date, however long it takes. */
  index: { takes: { view: GraphView; isFull: boolean }; answers: RefreshResult; tells: IndexProgress };
  /** Has the project's compiler look at what it has not seen as it is. Joins a run that is on its way. */
  compile: {
    takes: { view: GraphView; start: CompilerStart; limits: CompilerLimits };
    answers: ExactRun;
    tells: IndexProgress;
  };
}

/** What of a tree the project's compiler has seen. */
export interface ExactFacts extends ExactCounts {
  run: ExactRun | null;
  /** How far a run is that is on its way. */
  running: IndexProgress | null;
}

/** Why an answer may not be of the files as they are now; null when it is. */
export type Staleness = { indexing: IndexProgress } | { changing: string[] } | null;

/** How long the files that an answer names may take to be compared, whatever was waited for before. */
const LEAST_PATIENCE_MS = 500;
/** How often an answer is made again because files that it names have changed. */
const MOST_TRIES = 3;
const MOST_OPEN = 8;
/** A folder is compared again after so many times what that took last: at once where it is small. */
const COMPARING_TIMES = 2;

interface OpenView {
  indexer: Indexer;
  /** When it began to be compared with the whole folder last, by the monotonic clock. */
  at: number;
  /** How long that took, ms. */
  comparingMs: number;
  refreshing: Promise<RefreshResult> | null;
  progress: IndexProgress;
  compiling: { run: Promise<ExactRun>; progress: IndexProgress; end: AbortController } | null;
  listeners: Set<(progress: IndexProgress) => void>;
}

const { git } = createGit(workerData as GitAccess);
const open = new Map<string, OpenView>();

async function openView(view: GraphView): Promise<OpenView> {
  const key = JSON.stringify([view.root, view.file, view.parsers]);
  const known = open.get(key);
  if (known !== undefined) {
    open.delete(key);
    open.set(key, known);
    return known;
  }
  if (view.base !== null && !existsSync(view.file) && existsSync(view.base)) copyIndex(view.base, view.file);
  const { root, file, parsers, without } = view;
  const made: OpenView = {
    indexer: createIndexer({ root, file, git, parsers, without }),
    at: Number.NEGATIVE_INFINITY,
    comparingMs: 0,
    refreshing: null,
    progress: { phase: 'read', done: 0, total: 0 },
    compiling: null,
    listeners: new Set(),
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

/** A worktree begins with the index of what it was made from, and reads only what differs. */
function copyIndex(from: string, to: string): void {
  try {
    // Of what is being written it would be half a copy; a damaged one is made anew.
    const source = [...open.values()].find(({ indexer }) => indexer.db.name === from);
    source?.indexer.db.pragma('wal_checkpoint(TRUNCATE)');
    if (source?.refreshing == null) copyFileSync(from, to);
  } catch {
    rmSync(to, { force: true });
  }
}

function startRefresh(view: OpenView, isFull: boolean): Promise<RefreshResult> {
  const run = async (): Promise<RefreshResult> => {
    await view.refreshing?.catch(() => undefined);
    const at = performance.now();
    const result = await view.indexer.refresh({
      isFull,
      progress(progress) {
        view.progress = progress;
        for (const listener of view.listeners) listener(progress);
      },
    });
    view.at = at;
    view.comparingMs = result.comparingMs;
    return result;
  };
  const refreshing = run().finally(() => {
    if (view.refreshing === refreshing) view.refreshing = null;
  });
  view.refreshing = refreshing;
  return refreshing;
}

const waitFor = (work: Promise<unknown>, ms: number): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((done) => {
    timer = setTimeout(() => done(false), ms);
  });
  return Promise.race([work.then(() => true), late]).finally(() => clearTimeout(timer));
};

async function answer({
  view: wanted,
  question,
  patienceMs,
  freshMs,
}: GraphCalls['ask']['takes']): Promise<GraphCalls['ask']['answers']> {
  const view = await openView(wanted);
  const begin = performance.now();
  const until = begin + patienceMs;
  const isNew = (path: string): boolean =>
    !view.indexer.hasFile(path) && view.indexer.languageOf(path) !== null;
  let maxAgeMs = Math.min(freshMs, view.comparingMs * COMPARING_TIMES);
  for (let tries = 1; ; tries += 1) {
    if (!(await waitForFresh(view, begin - maxAgeMs, until))) {
      const { answer: early } = await answerQuestion(view.indexer, question, git);
      return { answer: early, stale: { indexing: view.progress }, exact: readExact(view) };
    }
    const { answer: made, names } = await answerQuestion(view.indexer, question, git);
    // What is not there may have been written just now.
    if (view.at < begin && (isNothing(made) || [...names].some(isNew))) {
      maxAgeMs = 0;
      continue;
    }
    // Behind what others have begun to read.
    const reading = view.indexer.refreshKnown(names);
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

/** Waits for the index to be of the folder as it was at a time or later, until another time; both by the monotonic clock. */
async function waitForFresh(view: OpenView, since: number, until: number): Promise<boolean> {
  while (view.at < since) {
    const refreshing = view.refreshing ?? startRefresh(view, false);
    if (!(await waitFor(refreshing, until - performance.now()))) return false;
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
    .then(() =>
      runExactTier(view.indexer, start, limits, {
        signal: end.signal,
        progress(at) {
          Object.assign(progress, at);
          for (const listener of view.listeners) listener(at);
        },
      }),
    )
    .finally(() => {
      view.compiling = null;
    });
  view.compiling = { run, progress, end };
  return run;
}

/** Tells how far an index is, for as long as somebody waits. */
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
      return listenWhile(await openView(asked.view), tell, () => answer(asked));
    },
    async index({ view: wanted, isFull }, tell) {
      const view = await openView(wanted);
      return listenWhile(view, tell, () => startRefresh(view, isFull));
    },
    async compile({ view: wanted, start, limits }, tell) {
      const view = await openView(wanted);
      return listenWhile(view, tell, () => startCompiler(view, start, limits));
    },
  },
  () => {
    // A compiler would go on without anybody to tell.
    for (const { compiling } of open.values()) compiling?.end.abort();
  },
);
