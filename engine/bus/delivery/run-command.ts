import { type ChildProcess, spawn } from 'node:child_process';
import type { PrepareCommand } from '../../workers/runner/processes/index.ts';
import { type DeliveryOutcome, failedOutcome, TOLD } from './outcome.ts';
import { shortenForArgument, type TemplateValues } from './values.ts';

const LIMIT_MS = 30_000;

/**
 * Runs the command of an entry. It is split into words before the placeholders are filled in, so that a message is never
 * more than part of one argument. It gets its own process group and no terminal; its output is discarded. Null when
 * `signal` ended it.
 */
export async function runNotifyCommand(
  command: string,
  values: TemplateValues,
  {
    words,
    fill,
    cwd,
    prepare,
    signal,
  }: {
    words(template: string): string[];
    fill(template: string, values: TemplateValues): string;
    cwd: string;
    /** Contains the command's processes, so that none outlives the attempt. */
    prepare: PrepareCommand;
    signal: AbortSignal;
  },
): Promise<DeliveryOutcome | null> {
  const safe = shortenForArgument(values);
  const filled = words(command).map((word) => fill(word, safe).replaceAll('\0', ''));
  const prepared = await prepare(filled, cwd);
  if (prepared === null) return failedOutcome('the command could not be started: ENOENT');
  const { env, end } = prepared;
  const [program = '', ...args] = prepared.argv;
  return new Promise((resolve) => {
    let child: ChildProcess;
    try {
      child = spawn(program, args, { cwd, env, detached: true, stdio: 'ignore' });
    } catch (error) {
      resolve(notStartedOutcome(error as NodeJS.ErrnoException));
      return;
    }
    let isLate = false;
    const killGroup = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The whole group has just ended.
      }
    };
    const timer = setTimeout(() => {
      isLate = true;
      killGroup();
    }, LIMIT_MS);
    timer.unref();
    signal.addEventListener('abort', killGroup);
    const endTry = (outcome: DeliveryOutcome): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', killGroup);
      // Also ends the processes that it left behind.
      void end()
        .catch(() => undefined)
        .then(() => resolve(signal.aborted ? null : outcome));
    };
    child.once('error', (error) => endTry(notStartedOutcome(error)));
    child.once('exit', (code, by) => {
      if (isLate) endTry(failedOutcome(`the command did not end within ${LIMIT_MS / 1000} s`));
      else if (code === 0) endTry(TOLD);
      else
        endTry(
          failedOutcome(code === null ? `the command was ended by ${by}` : `the command exited with ${code}`),
        );
    });
    child.unref();
  });
}

const notStartedOutcome = ({ code }: NodeJS.ErrnoException): DeliveryOutcome =>
  failedOutcome(`the command could not be started: ${code ?? 'unknown'}`);
