import { type ChildProcess, spawn } from 'node:child_process';
import { signalGroup } from '../../../core/base/signal-group.ts';
import type { PrepareCommand } from './commands.ts';

/**
 * Runs a command without a terminal, in its own process group, and discards its output. Returns why it failed, a
 * sentence; null if it has exited with 0. Nothing of it outlives the call.
 */
export async function runShortCommand(
  argv: readonly string[],
  {
    cwd,
    variables = {},
    prepare,
    limitMs,
    signal,
  }: {
    cwd: string;
    /** Added to its environment. */
    variables?: Readonly<Record<string, string>>;
    /** Contains the command's processes. */
    prepare: PrepareCommand;
    limitMs: number;
    /** Ends it. */
    signal: AbortSignal;
  },
): Promise<string | null> {
  const prepared = await prepare(argv, cwd);
  if (prepared === null) return 'the command could not be started: ENOENT';
  const { env, end } = prepared;
  const [program = '', ...args] = prepared.argv;
  return new Promise((resolve) => {
    let child: ChildProcess;
    try {
      child = spawn(program, args, { cwd, env: { ...env, ...variables }, detached: true, stdio: 'ignore' });
    } catch (error) {
      resolve(describeStart(error as NodeJS.ErrnoException));
      return;
    }
    let isLate = false;
    const killGroup = (): void => signalGroup(child.pid, 'SIGKILL');
    const timer = setTimeout(() => {
      isLate = true;
      killGroup();
    }, limitMs);
    timer.unref();
    signal.addEventListener('abort', killGroup);
    const endTry = (problem: string | null): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', killGroup);
      // Also ends the processes that it left behind.
      void end()
        .catch(() => undefined)
        .then(() => resolve(problem));
    };
    child.once('error', (error) => endTry(describeStart(error)));
    child.once('exit', (code, by) => {
      if (isLate) endTry(`the command did not end within ${limitMs / 1000} s`);
      else if (code === 0) endTry(null);
      else endTry(code === null ? `the command was ended by ${by}` : `the command exited with ${code}`);
    });
    child.unref();
  });
}

const describeStart = ({ code }: NodeJS.ErrnoException): string =>
  `the command could not be started: ${code ?? 'unknown'}`;
