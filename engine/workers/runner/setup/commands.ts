import { closeSync, existsSync, fstatSync, readSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asSvcError } from '../../../core/base/errors.ts';
import { makePrivateFolder, openPrivate } from '../../../core/base/private-files.ts';
import { splitCommand } from '../../agents/index.ts';
import type { ExitResult, RunningProcess, RunProcesses } from '../processes/index.ts';

export type SetupPhase = 'setup' | 'teardown';

/** The source of a line of ours in a log. */
type NoteSource = SetupPhase | 'run';

export interface SetupCommands {
  what: SetupPhase;
  commands: readonly string[];
  cwd: string;
  /** The whole environment, as for a worker. */
  env: Readonly<Record<string, string>>;
  /** The mark of every process that they start. */
  runId: string;
  /** Their run directories are created here, and stay: by them a repeated call finds the commands of an earlier one. */
  folder: string;
  logFile: string;
  /** Wraps a command for its start, confined where necessary. */
  confine(argv: readonly string[]): Promise<readonly string[]>;
  /** True if the commands run confined. */
  isConfined: boolean;
}

/** How the commands are supervised. */
export interface CommandSupervision {
  /** False: no further command starts. */
  mayContinue(): boolean;
  /** Waits for its end; null if the wait was cancelled. */
  waitForEnd(running: RunningProcess): Promise<ExitResult | null>;
}

/** Appends a separate line of ours to a session's log. */
export function appendLogNote(logFile: string, what: NoteSource, text: string): void {
  const fd = openPrivate(logFile, 'add');
  try {
    const { size } = fstatSync(fd);
    const last = Buffer.alloc(1);
    if (size > 0) readSync(fd, last, 0, 1, size - 1);
    const begin = size === 0 || last[0] === 0x0a ? '' : '\n';
    writeSync(fd, `${begin}[svc: ${what}] ${text.replace(/\s+/g, ' ')}\n`);
  } finally {
    closeSync(fd);
  }
}

/** Describes a command's end, as a clause; null for one that was stopped. */
function describeExit(exit: ExitResult | null): string {
  if (exit === null) return 'stopped';
  const { code, signal } = exit;
  return code !== null ? `exit code ${code}` : signal !== null ? `killed by ${signal}` : 'no exit code';
}

/**
 * Runs the commands one after the other until one fails; kills processes that a command leaves running. Null if all
 * have succeeded, otherwise a clause that names the failed one. A repeated call, after its host was killed, runs none of
 * them again: it follows the last one that was started.
 */
export async function runCommands(
  processes: Pick<RunProcesses, 'start' | 'startAgain' | 'findStarted' | 'sweep'>,
  { what, commands, cwd, env, runId, folder, logFile, confine, isConfined }: SetupCommands,
  follow: CommandSupervision,
): Promise<string | null> {
  const getRunDir = (at: number): string => join(folder, String(at));
  for (const [at, command] of commands.entries()) {
    // It has succeeded, or the next one would not have been begun.
    if (existsSync(getRunDir(at + 1))) continue;
    const runDir = getRunDir(at);
    const isRepeated = existsSync(runDir);
    const earlier = isRepeated ? processes.findStarted({ runDir, runId }) : null;
    if (earlier === null && !follow.mayContinue()) return `${JSON.stringify(command)} was not started`;
    if (!isRepeated) appendLogNote(logFile, what, command);
    const begun = performance.now();
    makePrivateFolder(dirname(dirname(logFile)), runDir);
    let running: RunningProcess;
    try {
      const start = isRepeated ? processes.startAgain : processes.start;
      const argv = earlier === null ? await confine(splitCommand(command)) : [];
      running = earlier ?? (await start({ runDir, runId, argv, cwd, env, logFile, isConfined }));
    } catch (thrown) {
      const { code, message } = asSvcError(thrown);
      // Not the command's fault, and it would happen to every other command.
      if (code === 'tool_missing' || code === 'confinement_unavailable' || code === 'storage_full')
        throw thrown;
      const why = code === 'agent_not_found' ? 'no such program' : message;
      appendLogNote(logFile, what, why);
      return `${JSON.stringify(command)} could not be started: ${why}`;
    }
    const exit = await follow.waitForEnd(running);
    const { survivors } = await processes.sweep(runId, running.pidStart);
    const left = survivors.length === 0 ? '' : `; could not be ended: ${survivors.join(', ')}`;
    const seconds = Math.round((performance.now() - begun) / 1000);
    const end = `${describeExit(exit)}${earlier === null ? ` after ${seconds} s` : ''}${left}`;
    appendLogNote(logFile, what, end);
    if (exit?.code !== 0) return `${JSON.stringify(command)}: ${end}`;
  }
  return null;
}
