import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { SvcError } from '../../../engine/core/base/errors.ts';
import type { MachineFolders } from '../../../engine/fleet/machine/machine-folders.ts';
import { NO_FACTS } from '../../../engine/workers/agents/index.ts';
import { appendLogCopy, findTailOffset } from '../../../engine/workers/runner/processes/index.ts';
import {
  type MachineRunner,
  NOTHING_KEPT,
  type RunExit,
  type RunName,
} from '../../../engine/workers/runner/runs/index.ts';
import type { RunProcess } from '../../../engine/workers/sessions/index.ts';
import { appendLedger, collectRuns, type LedgerLine, leavesCommit, readClock, readLedger } from './ledger.ts';
import { writeSmallCommit } from './write-pack.ts';

/** How a machine's agents behave. */
export interface Pace {
  /** How long a run lives, ms. */
  readRunMs(): number;
  /** How long a run takes to end after an order, ms. */
  readStopMs(): number;
}

/**
 * A runner whose runs are only lines of a ledger: each lives for some time, whatever becomes of this process, and some
 * leave one commit that names them. Its steps are durable as those of a real one.
 */
export function createSimulatedRunner(
  { agents: agentsDir, worktrees: worktreesDir, data }: MachineFolders,
  { readRunMs, readStopMs }: Pace,
) {
  const ledger = join(data, 'ledger');
  const lines = readLedger(ledger);
  const runs = collectRuns(lines);
  const never = new Set(lines.flatMap((line) => (line.kind === 'never' ? [line.run] : [])));
  const bases = new Map<string, string>();
  const commits = new Map<string, Buffer>();
  /** Called when a run was ordered to end. */
  const wakers = new Map<string, () => void>();
  for (const line of lines) noteBase(line);

  function noteBase(line: LedgerLine): void {
    if (line.kind === 'place') bases.set(line.branch, line.base);
    else if (line.kind === 'clear') bases.delete(line.branch);
  }

  function append(line: LedgerLine): void {
    appendLedger(ledger, line);
    noteBase(line);
  }

  const folderOf = ({ sessionId, runId }: RunName): string => join(agentsDir, sessionId, runId);
  const logOf = (sessionId: string): string => join(agentsDir, sessionId, 'log');
  function print(sessionId: string, text: string): void {
    mkdirSync(join(agentsDir, sessionId), { recursive: true, mode: 0o700 });
    const file = logOf(sessionId);
    appendLogCopy(file, { from: findTailOffset(file, 0), bytes: Buffer.from(`${text}\n`) });
  }

  /** Any number does: it is asked for nothing. */
  const processOf = (runId: string): RunProcess => ({
    ...{ pid: 4_000_000 + (Number.parseInt(runId.slice(0, 4), 16) % 100_000), pidStart: runId },
    containment: null,
  });

  const requireRun = (runId: string) => {
    const found = runs.get(runId);
    if (found === undefined) throw new SvcError('not_found', `${runId} does not run here`);
    return found;
  };

  /** Returns the end of a branch: the commit of its last run, if that has ended by itself. */
  function findHead(branch: string): string | null {
    const base = bases.get(branch);
    if (base === undefined) return null;
    const ended = [...runs.values()].findLast((each) => each.branch === branch);
    const isDone = ended !== undefined && !ended.isStopped && ended.endsAt <= readClock();
    if (!isDone || !leavesCommit(ended.session)) return base;
    const { id, pack } = writeSmallCommit(base, `${ended.session} ${ended.run}\n`);
    commits.set(id, pack);
    return id;
  }

  async function followToEnd(runId: string): Promise<RunExit> {
    const run = requireRun(runId);
    for (let left = run.endsAt - readClock(); left > 0; left = run.endsAt - readClock()) {
      const woken = new Promise<void>((resolve) => wakers.set(runId, resolve));
      await Promise.race([woken, delay(Math.min(left + 1, 1000))]);
    }
    wakers.delete(runId);
    return run.isStopped ? { code: null, signal: 'SIGTERM' } : { code: 0, signal: null };
  }

  const runner: MachineRunner = {
    async place({ sessionId, origin, placement, former, note }) {
      if (note !== null) print(sessionId, note);
      const outputFrom = findTailOffset(logOf(sessionId), 0);
      const given = placement ?? former;
      if (given !== null) return { placement: given, outputFrom };
      const { repository, base, baseCommit } = origin!;
      const branch = origin!.branch!;
      const worktree = join(worktreesDir, branch.slice('svc/'.length));
      mkdirSync(worktree, { recursive: true });
      if (bases.get(branch) === undefined)
        append({ kind: 'place', session: sessionId, branch, base: baseCommit! });
      return {
        placement: {
          ...{ runner: null, repository, worktree, cwd: worktree, branch, base, baseCommit, port: null },
        },
        outputFrom,
      };
    },
    async prepare({ run }) {
      mkdirSync(folderOf(run), { recursive: true, mode: 0o700 });
      return { svc: null, outputFrom: null };
    },
    async start({ run, placement }) {
      const { sessionId: session, runId } = run;
      if (runs.has(runId)) return processOf(runId);
      if (never.has(runId)) throw new SvcError('conflict', `the run ${runId} was given up`);
      if (!existsSync(folderOf(run))) throw new SvcError('conflict', `the run ${runId} is not prepared`);
      const [at, ms] = [readClock(), readRunMs()];
      const branch = placement.branch ?? '';
      append({ kind: 'start', session, run: runId, branch, at, ms });
      runs.set(runId, { session, run: runId, branch, startedAt: at, endsAt: at + ms, isStopped: false });
      print(session, `agent: ${runId}`);
      return processOf(runId);
    },
    async adopt({ run: { runId }, mayNotHaveStarted }) {
      const found = runs.get(runId);
      if (found === undefined && !mayNotHaveStarted)
        return { state: 'ended', exit: { code: null, signal: null } };
      if (found === undefined) {
        if (!never.has(runId)) append({ kind: 'never', run: runId });
        never.add(runId);
        return { state: 'not_started' };
      }
      if (found.endsAt > readClock()) return { state: 'running', process: processOf(runId) };
      return { state: 'ended', exit: await followToEnd(runId) };
    },
    async watch({ run: { runId } }, onReport) {
      requireRun(runId);
      onReport({ facts: NO_FACTS, quietMs: 0 });
      return followToEnd(runId);
    },
    async stop({ sessionId: session, runId }) {
      const found = runs.get(runId);
      if (found === undefined) return;
      const at = readClock() + readStopMs();
      if (at < found.endsAt) {
        append({ kind: 'stop', session, run: runId, at });
        Object.assign(found, { endsAt: at, isStopped: true });
        wakers.get(runId)?.();
      }
      await followToEnd(runId);
    },
    async collect() {
      return { facts: NO_FACTS, hasSpoken: true, hasLostSession: false };
    },
    keep: async () => NOTHING_KEPT,
    async discard(run) {
      rmSync(folderOf(run), { recursive: true, force: true });
    },
    clear: async () => [],
  };

  return {
    runner,
    hasEnded: ({ runId }: RunName): boolean => (runs.get(runId)?.endsAt ?? Infinity) <= readClock(),
    worktrees: {
      findHead: async (_mirror: string, branch: string) => findHead(branch),
      snapshot: async () => null,
      async discard({ branch, worktree }: { branch: string; worktree: string }) {
        append({ kind: 'clear', branch });
        rmSync(worktree, { recursive: true, force: true });
      },
    },
    transfers: {
      listTips: async (folder: string) =>
        existsSync(join(folder, 'base')) ? readdirSync(join(folder, 'base')) : [],
      async openMirror(folder: string) {
        mkdirSync(folder, { recursive: true });
      },
      async receiveBase(folder: string, { commit }: { commit: string }, input: Duplex) {
        for await (const _ of input);
        mkdirSync(join(folder, 'base', commit), { recursive: true });
      },
      selectKnown: async () => [],
      async sendCommits(_folder: string, { wanted }: { wanted: readonly string[] }, output: Duplex) {
        output.end(commits.get(wanted[0] ?? '') ?? Buffer.alloc(0));
      },
      async setAuthor() {},
    },
  };
}
