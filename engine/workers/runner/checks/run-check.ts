import { spawn } from 'node:child_process';
import { SvcError } from '../../../core/base/errors.ts';
import { settleWithin } from '../../../core/base/settle-within.ts';
import { signalGroup } from '../../../core/base/signal-group.ts';
import type { SessionCommand } from '../confine/index.ts';
import type { RunProcesses } from '../processes/index.ts';

export interface CheckDeps {
  processes: Pick<RunProcesses, 'readStartTime' | 'stop' | 'sweep' | 'contain'>;
  /** The environment of the command. */
  environment(extra: Record<string, string>): Record<string, string>;
  /** Builds the argv of a command: confined if the session was. */
  confine(command: SessionCommand): Promise<readonly string[]>;
  /** True if the command is confined. */
  isConfined: boolean;
}

export interface CheckRun {
  cwd: string;
  /** Marks every process of the run. */
  mark: string;
  timeoutMs: number;
  /** Ends the run; its results so far are discarded. */
  signal: AbortSignal;
}

/** How much of the output's end is kept. */
const KEPT_BYTES = 8 * 1024;
const GRACE_MS = 2000;
/** How long to wait for an ended process's remaining output. */
const DRAIN_MS = 1000;

/** How a command ended. */
export interface CommandEnd {
  /** Null if it was ended at its time limit, or by a signal. */
  exitCode: number | null;
  /** The last lines of its output. */
  output: string;
}

/** Runs a command that checks work, in a checkout of it. Leaves no process behind, however it ends. Throws `spawn_failed`, `cancelled`. */
export async function runCheck(
  command: string,
  { cwd, mark, timeoutMs, signal }: CheckRun,
  { processes, environment, confine, isConfined }: CheckDeps,
): Promise<CommandEnd> {
  const env = environment({ SVC_RUN_ID: mark });
  const confined = await confine({ argv: ['/bin/sh', '-c', command], cwd, env });
  const contained = await processes.contain({ runId: mark, argv: confined, isConfined });
  const [program = '', ...args] = contained.argv;
  if (signal.aborted) throw rerunStoppedError(command);
  const child = spawn(program, args, {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  // Read before the event loop turns; until then even an ended process keeps its entry.
  const pidStart = (pid === undefined ? null : processes.readStartTime(pid)) ?? '';
  const output = keepLastBytes(KEPT_BYTES);
  child.stdout.on('data', output.add);
  child.stderr.on('data', output.add);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('exit', (code) => {
      // Kill its group now; later its number may belong to another one.
      signalGroup(pid, 'SIGKILL');
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
  const ended = await settleWithin(
    timeoutMs,
    exited.then((code) => ({ code })),
    signal,
  );
  try {
    if (ended === null && pid !== undefined) {
      await processes.stop({ pid, pidStart, runId: mark }, { graceMs: GRACE_MS });
      await settleWithin(DRAIN_MS, exited);
    }
  } finally {
    await processes.sweep(mark, pidStart === '' ? undefined : pidStart);
    // A process that cleared its mark may still hold the pipe.
    await settleWithin(DRAIN_MS, closed);
    child.stdout.destroy();
    child.stderr.destroy();
  }
  if (signal.aborted) throw rerunStoppedError(command);
  if (ended !== null) return { exitCode: ended.code, output: output.text() };
  return { exitCode: null, output: `${output.text()}\n[svc: ended after ${timeoutMs / 1000} s]`.trimStart() };
}

const rerunStoppedError = (command: string): SvcError =>
  new SvcError('cancelled', `the rerun ended before this command finished: ${command}`, {
    hint: 'nothing was recorded',
  });

function keepLastBytes(limit: number): { add(chunk: Buffer): void; text(): string } {
  let kept: Buffer = Buffer.alloc(0);
  let isCut = false;
  return {
    add(chunk) {
      const all = chunk.length >= limit ? chunk : Buffer.concat([kept, chunk]);
      isCut ||= kept.length + chunk.length > limit;
      // A copy, since a slice would keep the whole chunk in memory.
      kept = Buffer.from(all.subarray(-limit));
    },
    text() {
      const text = kept.toString('utf8');
      const first = text.indexOf('\n');
      return isCut && first >= 0 ? text.slice(first + 1) : text;
    },
  };
}
