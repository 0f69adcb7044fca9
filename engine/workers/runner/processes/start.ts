import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../../core/base/errors.ts';
import { findProgram } from '../../../core/base/find-program.ts';
import { openPrivate } from '../../../core/base/private-files.ts';
import type { Containment, ContainmentKind, ProcessTable } from '../../../core/platform/index.ts';
import { MARK } from './marks.ts';
import { readExit, SCRIPT } from './wrapper.ts';

export interface StartSpec {
  /** Exists, mode 0700, used by this run only. */
  runDir: string;
  /** A uuid that marks every process of the run. */
  runId: string;
  argv: readonly string[];
  cwd: string;
  /** The whole environment, already allow-listed (see environment.ts). */
  env: Readonly<Record<string, string>>;
  /** Opened as stdin; without it stdin is empty. */
  stdinFile?: string;
  /** Stdout and stderr are appended to it. */
  logFile: string;
  /** The program creates its own sandbox. */
  isConfined?: boolean;
}

export interface ExitResult {
  /** The agent's exit code; null when it was killed together with its wrapper, or is unknown. */
  code: number | null;
  signal: string | null;
}

export interface RunningProcess {
  /** The wrapper's pid, also that of the group and the session. */
  pid: number;
  /** Start time of that pid; the pair identifies one process. */
  pidStart: string;
  /** Its containment; null for a process that an earlier host started. */
  containment: ContainmentKind | null;
  exited: Promise<ExitResult>;
}

/** Finds the program's absolute path, as execvp would find it from the worker's folder. Throws `agent_not_found`. */
export function resolveProgram(name: string, cwd: string, path: string | undefined): string {
  const found = findProgram(name, { cwd, path });
  if (found !== undefined) return found;
  const where = name.includes('/') ? 'does not exist or is not executable' : 'is not on PATH';
  throw new SvcError('agent_not_found', `the agent's program ${JSON.stringify(name)} ${where}`, {
    hint: 'install it, or correct the command under agents.cmds in svc.yaml',
    data: { program: name },
  });
}

function spawnFailedError(thrown: unknown, program: string): SvcError {
  const code = (thrown as NodeJS.ErrnoException).code;
  if (code === 'E2BIG') {
    return new SvcError('spawn_failed', `the arguments of ${program} are longer than the system allows`, {
      cause: thrown,
      hint: 'pass a long prompt through `< {{prompt_file}}` in agents.cmds (one argument may hold 128 KiB on Linux)',
    });
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new SvcError('storage_full', `${program} could not be started: ${message}`, {
      cause: thrown,
      hint: 'free some disk space',
    });
  return new SvcError('spawn_failed', `${program} could not be started: ${message}`, { cause: thrown });
}

/**
 * Starts the agent in its own process session and group. It runs at most once per run directory; it does not keep
 * this process alive. Throws `agent_not_found`, `spawn_failed` or `already_running`, all before the agent runs.
 */
export async function startProcess(
  spec: StartSpec,
  table: ProcessTable,
  containment: Pick<Containment, 'contain'>,
): Promise<RunningProcess> {
  const { runDir, runId, cwd, isConfined = false } = spec;
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    throw new SvcError('spawn_failed', `the worker's folder ${cwd} does not exist`, { data: { cwd } });
  }
  const program = resolveProgram(spec.argv[0] ?? '', cwd, spec.env.PATH);
  if (existsSync(join(runDir, 'started'))) {
    throw new SvcError('already_running', `run ${runId} was already started`, { data: { runDir } });
  }
  const whole = [program, ...spec.argv.slice(1)];
  const { argv, kind } = await containment.contain({ runId, argv: whole, isConfined });
  const files: number[] = [];
  const openInput = (file: string): number => {
    try {
      const fd = openSync(file, 'r');
      files.push(fd);
      return fd;
    } catch (error) {
      throw spawnFailedError(error, program);
    }
  };
  try {
    const stdin = spec.stdinFile === undefined ? 'ignore' : openInput(spec.stdinFile);
    // O_APPEND for every writer: the log is cut in place while the worker writes (see log-watch.ts).
    const log = openPrivate(spec.logFile, 'add');
    files.push(log);
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'svc-worker', runDir, ...argv], {
      cwd,
      env: { ...spec.env, [MARK]: runId },
      detached: true,
      stdio: [stdin, log, log],
    });
    const exited = new Promise<ExitResult>((done) => {
      child.once('exit', (code, signal) => {
        // If the wrapper was killed after the agent had ended, the agent's own code is more accurate.
        const code_ = code ?? readExit(runDir);
        done({ code: code_, signal: code_ === null ? signal : null });
      });
    });
    // Read before the event loop turns: until then even an ended child keeps its entry.
    const entry = child.pid === undefined ? 'gone' : table.read(child.pid);
    await new Promise<void>((done, fail) => {
      child.once('spawn', done);
      child.once('error', fail);
    });
    child.on('error', () => {}); // a failed kill must not crash the host
    child.unref();
    const pidStart = typeof entry === 'object' ? entry.start : '';
    return { pid: child.pid!, pidStart, containment: kind, exited };
  } catch (error) {
    throw error instanceof SvcError ? error : spawnFailedError(error, program);
  } finally {
    for (const fd of files) closeSync(fd);
  }
}
