import { type ChildProcess, spawn } from 'node:child_process';
import type { PrepareCommand } from '../../runner/processes/index.ts';
import { failed, type Outcome, TOLD } from './outcome.ts';
import { inArgument, type Values } from './values.ts';

const LIMIT_MS = 30_000;

/**
 * Runs the command of an entry: split into words first, then filled in, so that a message is never more than a part of
 * one argument. A group of its own without a terminal; its output is dropped. Null when `signal` ended it.
 */
export async function run(
  command: string,
  values: Values,
  {
    words,
    fill,
    cwd,
    prepare,
    signal,
  }: {
    words(template: string): string[];
    fill(template: string, values: Values): string;
    cwd: string;
    /** Holds the command together: nothing of it outlives the try. */
    prepare: PrepareCommand;
    signal: AbortSignal;
  },
): Promise<Outcome | null> {
  const safe = inArgument(values);
  const filled = words(command).map((word) => fill(word, safe).replaceAll('\0', ''));
  const prepared = await prepare(filled, cwd);
  if (prepared === null) return failed('the command could not be started: ENOENT');
  const { env, end } = prepared;
  const [program = '', ...args] = prepared.argv;
  return new Promise((resolve) => {
    let child: ChildProcess;
    try {
      child = spawn(program, args, { cwd, env, detached: true, stdio: 'ignore' });
    } catch (error) {
      resolve(notStarted(error as NodeJS.ErrnoException));
      return;
    }
    let isLate = false;
    const kill = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // All of it has just ended.
      }
    };
    const timer = setTimeout(() => {
      isLate = true;
      kill();
    }, LIMIT_MS);
    timer.unref();
    signal.addEventListener('abort', kill);
    const done = (outcome: Outcome): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', kill);
      // What it has left behind ends with it.
      void end()
        .catch(() => undefined)
        .then(() => resolve(signal.aborted ? null : outcome));
    };
    child.once('error', (error) => done(notStarted(error)));
    child.once('exit', (code, by) => {
      if (isLate) done(failed(`the command did not end within ${LIMIT_MS / 1000} s`));
      else if (code === 0) done(TOLD);
      else done(failed(code === null ? `the command was ended by ${by}` : `the command exited with ${code}`));
    });
    child.unref();
  });
}

const notStarted = ({ code }: NodeJS.ErrnoException): Outcome =>
  failed(`the command could not be started: ${code ?? 'unknown'}`);
