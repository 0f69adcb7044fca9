import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { SvcError } from '../../base/errors.ts';
import { sentence } from '../../base/sentence.ts';
import type { SessionCommand } from '../../runner/confine/index.ts';
import type { Processes } from '../../runner/processes/index.ts';
import type { Session } from '../../sessions/index.ts';
import type { Evidence, RerunResult, TestResult } from './rows.ts';
import { hasRun } from './state.ts';

/** Evidence that is run again: whose it is, and its tests that ran. */
export interface ToRunAgain {
  session: Session;
  evidence: Evidence;
  tests: TestResult[];
}

/** Throws `conflict` while the session runs, `not_found` where there is nothing to run or no branch to run it on. */
export function checkMayRunAgain(session: Session, evidence: Evidence | null): ToRunAgain {
  const { sessionId, state, taskId, cwd, branch, repository } = session;
  if (state !== 'ended') {
    throw new SvcError('conflict', `${sessionId} is still ${state}; its branch may move while tests run`, {
      hint: sentence`wait for its end; {task.show ${taskId}} shows it`,
    });
  }
  const tests = (evidence?.tests ?? []).filter(hasRun);
  if (evidence === null || tests.length === 0) {
    throw new SvcError('not_found', `${sessionId} reported no test that ran`, {
      hint: sentence`{verify.status ${sessionId}} shows what it reported`,
    });
  }
  if (branch === null || repository === null) {
    throw new SvcError(
      'not_found',
      `${sessionId} has no branch of its own, and so no commit that is only its work`,
      {
        hint: `it worked in ${cwd ?? "the project's folder"}: run them there by hand`,
      },
    );
  }
  return { session, evidence, tests };
}

export interface RunDeps {
  processes: Pick<Processes, 'readStartTime' | 'stop' | 'sweep' | 'contain'>;
  /** What the command may see. */
  environment(extra: Record<string, string>): Record<string, string>;
  /** What is started for a command: confined for a session that was. */
  confine(command: SessionCommand): Promise<readonly string[]>;
  /** Whether it is. */
  isConfined: boolean;
}

export interface Run {
  cwd: string;
  /** Marks every process of it. */
  mark: string;
  timeoutMs: number;
  /** Ends it; what was run so far is then worth nothing. */
  signal: AbortSignal;
}

/** Of the output, from its end. */
const KEPT_BYTES = 8 * 1024;
const GRACE_MS = 2000;
/** For what the last words of an ended process are still on their way. */
const DRAIN_MS = 1000;

/** Whether the command ends as it was reported. Nothing that it started is left, however it ends. */
export async function runAgain(
  { command, result }: Pick<TestResult, 'command' | 'result'>,
  run: Run,
  deps: RunDeps,
): Promise<RerunResult> {
  const { exitCode, output } = await runCommand(command, run, deps);
  return { command, exitCode, agrees: (exitCode === 0) === (result === 'passed'), output };
}

async function runCommand(
  command: string,
  { cwd, mark, timeoutMs, signal }: Run,
  { processes, environment, confine, isConfined }: RunDeps,
): Promise<{ exitCode: number | null; output: string }> {
  const env = environment({ SVC_RUN_ID: mark });
  const confined = await confine({ argv: ['/bin/sh', '-c', command], cwd, env });
  const contained = await processes.contain({ runId: mark, argv: confined, isConfined });
  const [program = '', ...args] = contained.argv;
  if (signal.aborted) throw stopped(command);
  const child = spawn(program, args, {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  // Read before the event loop turns: until then even a process that has ended keeps its entry.
  const pidStart = (pid === undefined ? null : processes.readStartTime(pid)) ?? '';
  const output = lastBytes(KEPT_BYTES);
  child.stdout.on('data', output.add);
  child.stderr.on('data', output.add);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('exit', (code) => {
      // What stayed in its group goes now: later its number may mean another's.
      if (pid !== undefined) killGroup(pid);
      resolve(code);
    });
    child.once('error', (error) => {
      reject(
        new SvcError('spawn_failed', `${program} could not be started in ${cwd}: ${error.message}`, {
          cause: error,
        }),
      );
    });
  });
  const over = new AbortController();
  const ended = await Promise.race([
    exited.then((code) => ({ code })),
    delay(timeoutMs, null, { signal: AbortSignal.any([signal, over.signal]), ref: false }).catch(() => null),
  ]).finally(() => over.abort());
  try {
    if (ended === null && pid !== undefined) {
      await processes.stop({ pid, pidStart, runId: mark }, { graceMs: GRACE_MS });
      await Promise.race([exited, delay(DRAIN_MS, undefined, { ref: false })]);
    }
  } finally {
    await processes.sweep(mark, pidStart === '' ? undefined : pidStart);
    // Something that cleared its mark may hold the other end.
    await Promise.race([closed, delay(DRAIN_MS, undefined, { ref: false })]);
    child.stdout.destroy();
    child.stderr.destroy();
  }
  if (signal.aborted) throw stopped(command);
  if (ended !== null) return { exitCode: ended.code, output: output.text() };
  return { exitCode: null, output: `${output.text()}\n[svc: ended after ${timeoutMs / 1000} s]`.trimStart() };
}

const stopped = (command: string): SvcError =>
  new SvcError('cancelled', `the rerun was ended before this was done: ${command}`, {
    hint: 'nothing of it was recorded',
  });

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody is left in it.
  }
}

function lastBytes(limit: number): { add(chunk: Buffer): void; text(): string } {
  let kept: Buffer = Buffer.alloc(0);
  let isCut = false;
  return {
    add(chunk) {
      const all = chunk.length >= limit ? chunk : Buffer.concat([kept, chunk]);
      isCut ||= kept.length + chunk.length > limit;
      // A copy: a part of a chunk would keep the whole of it.
      kept = Buffer.from(all.subarray(-limit));
    },
    text() {
      const text = kept.toString('utf8');
      const first = text.indexOf('\n');
      return isCut && first >= 0 ? text.slice(first + 1) : text;
    },
  };
}
