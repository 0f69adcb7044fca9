import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

// The supervisor loads this and little more: it stays for as long as its engine.

/** The file descriptor on which a started host says that it is ready, or why not. */
export const READY_FD = 3;

/** What it says there, as one line of JSON. */
export type Ready = { ready: true } | { code: string; message: string; hint?: string };

export interface HostStart {
  /** Program and arguments. */
  command: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Where its output goes; `inherit` for that of this process. */
  output: number | 'inherit';
  /** In a session of its own: it outlives the terminal of whoever starts it. */
  detached: boolean;
  /** After that time nothing more is waited for; it goes on starting. */
  patienceMs?: number;
}

export interface StartedHost {
  child: ChildProcess;
  /** What it says, or in our own words why it said nothing. Never rejects. */
  said: Promise<Ready>;
}

const unreachable = (what: string): Ready => ({
  code: 'engine_unreachable',
  message: `the engine ${what}`,
  hint: 'see .svc/log/daemon.out',
});

/** Starts a program that hosts an engine, and says on `READY_FD` how that went. */
export function startHost({ command, cwd, env, output, detached, patienceMs }: HostStart): StartedHost {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd, env, detached, stdio: ['ignore', output, output, 'pipe'] });
  return { child, said: hear(child, patienceMs) };
}

/** Whether a child has not ended yet, as far as this process was told. */
export const isChildRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null;

/** Resolves when it has ended, also when it had before. */
export async function childEnded(child: ChildProcess): Promise<void> {
  if (child.pid !== undefined && isChildRunning(child)) await once(child, 'exit');
}

function hear(child: ChildProcess, patienceMs?: number): Promise<Ready> {
  return new Promise((resolve) => {
    const stream = child.stdio[READY_FD] as Readable;
    let text = '';
    const late = (): void => done(unreachable('did not get ready in time'));
    const timer = patienceMs === undefined ? undefined : setTimeout(late, patienceMs);
    function done(said: Ready): void {
      clearTimeout(timer);
      stream.destroy();
      resolve(said);
    }
    child.once('error', (error) => done(unreachable(`could not be started: ${error.message}`)));
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    stream.once('error', () => done(unreachable('could not be started')));
    stream.once('end', () => {
      try {
        done(JSON.parse(text) as Ready);
      } catch {
        done(unreachable('ended before it was ready'));
      }
    });
  });
}
