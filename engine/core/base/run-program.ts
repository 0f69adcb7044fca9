import type { ExecFileException } from 'node:child_process';

/** Options for running a helper program. */
export interface ProgramRun {
  /** Default: the current folder. */
  cwd?: string;
  /** Default: the own environment. */
  env?: NodeJS.ProcessEnv;
  /** Time limit after which it is killed; default: none. */
  timeoutMs?: number;
  /** Output limit of each stream, after which it is killed. */
  mostBytes?: number;
}

/** The result of a helper program. */
export interface ProgramResult {
  /** Null if it was not started, or ended by a signal. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
  /** Null for exit code 0; code `ENOENT` if the program does not exist. */
  error: (Error & { code?: unknown; stderr?: string }) | null;
}

const MOST_BYTES = 1024 * 1024;

const optionsFor = ({ cwd, env, timeoutMs, mostBytes = MOST_BYTES }: ProgramRun) =>
  ({
    encoding: 'utf8',
    killSignal: 'SIGKILL',
    maxBuffer: mostBytes,
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  }) as const;

/**
 * Runs a helper program without a shell and without input, and returns its output. Never rejects. Not for programs
 * that outlive the caller, need a terminal or must be killed with their children.
 */
export function runProgram(
  program: string,
  args: readonly string[],
  options: ProgramRun = {},
): Promise<ProgramResult> {
  // Not imported: 3 ms of CPU for every command and hook, few of which run a program.
  const { execFile } = process.getBuiltinModule('node:child_process');
  return new Promise((resolve) => {
    const finishRun = (error: ExecFileException | null, stdout = '', stderr = ''): void => {
      const code = error === null ? 0 : error.code;
      resolve({
        exitCode: typeof code === 'number' ? code : null,
        stdout,
        stderr,
        error: error === null ? null : Object.assign(error, { stderr }),
      });
    };
    try {
      const child = execFile(program, args, optionsFor(options), finishRun);
      // A program that reads standard input would wait for the person at the terminal.
      child.stdin?.on('error', () => undefined).end();
    } catch (error) {
      // An argument or a variable with a zero byte.
      finishRun(error as ExecFileException);
    }
  });
}

/** Does the same for callers that cannot wait; it blocks everything else. Never throws. */
export function runProgramSync(
  program: string,
  args: readonly string[],
  options: ProgramRun = {},
): ProgramResult {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  try {
    const { status, signal, stdout, stderr, error } = spawnSync(program, args, {
      ...optionsFor(options),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const words = `${[program, ...args].join(' ')} ended with ${signal ?? `exit code ${status}`}`;
    return {
      exitCode: error === undefined ? status : null,
      // Null if it was not started.
      stdout: stdout ?? '',
      stderr: stderr ?? '',
      error: status === 0 && error === undefined ? null : (error ?? new Error(words)),
    };
  } catch (error) {
    return { exitCode: null, stdout: '', stderr: '', error: error as Error };
  }
}

/**
 * Returns the output of a helper program. Rejects with the error of `ProgramResult`, which has its error output as
 * `stderr`.
 */
export async function readProgram(
  program: string,
  args: readonly string[],
  options: ProgramRun = {},
): Promise<string> {
  const { stdout, error } = await runProgram(program, args, options);
  if (error !== null) throw error;
  return stdout;
}
