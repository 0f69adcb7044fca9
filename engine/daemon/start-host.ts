import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

// The supervisor loads this and little else, since it lives as long as its engine.

/** The file descriptor on which a started host reports that it is ready, or why not. */
export const READY_FD = 3;

/** The report, as one line of JSON. */
export type StartReport = { ready: true } | { code: string; message: string; hint?: string };

export interface HostStart {
  /** Program and arguments. */
  command: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** The destination of its output; `inherit` for this process's. */
  output: number | 'inherit';
  /** True to run in a separate session, so that it outlives the terminal it was started from. */
  detached: boolean;
  /** How long to wait for the report, ms; the host continues to start after that. */
  patienceMs?: number;
}

export interface StartedHost {
  child: ChildProcess;
  /** Its report, or one of ours that explains why there is none. Never rejects. */
  said: Promise<StartReport>;
}

const unreachableAnswer = (what: string): StartReport => ({
  code: 'engine_unreachable',
  message: `the engine ${what}`,
  hint: 'see .svc/log/daemon.out',
});

/** Starts a program that hosts an engine and reports the result on `READY_FD`. */
export function startHost({ command, cwd, env, output, detached, patienceMs }: HostStart): StartedHost {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd, env, detached, stdio: ['ignore', output, output, 'pipe'] });
  return { child, said: readAnswer(child, patienceMs) };
}

/** Reports whether a child has not ended yet, as far as this process knows. */
export const isChildRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null;

/** Resolves once the child has ended; immediately if it already has. */
export async function waitForChild(child: ChildProcess): Promise<void> {
  if (child.pid !== undefined && isChildRunning(child)) await once(child, 'exit');
}

function readAnswer(child: ChildProcess, patienceMs?: number): Promise<StartReport> {
  return new Promise((resolve) => {
    const stream = child.stdio[READY_FD] as Readable;
    let text = '';
    const reportLate = (): void => settleStart(unreachableAnswer('was not ready in time'));
    const timer = patienceMs === undefined ? undefined : setTimeout(reportLate, patienceMs);
    function settleStart(said: StartReport): void {
      clearTimeout(timer);
      stream.destroy();
      resolve(said);
    }
    child.once('error', (error) => settleStart(unreachableAnswer(`could not be started: ${error.message}`)));
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    stream.once('error', () => settleStart(unreachableAnswer('could not be started')));
    stream.once('end', () => {
      try {
        settleStart(JSON.parse(text) as StartReport);
      } catch {
        settleStart(unreachableAnswer('ended before it was ready'));
      }
    });
  });
}
