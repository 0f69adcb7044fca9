import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { asSvcError } from '../../engine/core/base/errors.ts';
import { runProgram } from '../../engine/core/base/run-program.ts';
import type { configuration, LinkFacts } from '../../engine/index.ts';

/** One line of `svc doctor`. */
export interface DoctorCheck {
  check: string;
  state: 'ok' | 'warn' | 'fail';
  found: string;
  /** The remedy; null if nothing has to be done. */
  remedy: string | null;
}

type Configuration = Awaited<ReturnType<typeof configuration>>;

/** The input of the checks of a workspace. */
export interface CheckedWorkspace {
  loaded: ReturnType<Configuration['loadConfig']>;
  paths: ReturnType<Configuration['resolveDataPaths']>;
  configuration: Configuration;
  env: NodeJS.ProcessEnv;
}

/** The parts of `engine.status` that the checks use. */
export interface RunningEngine {
  pid: number;
  version: string;
  started_at: string;
  uptime_sec: number;
  http: { host: string; port: number } | null;
  receivers: { host: string; port: number }[];
  receiver_problem: string | null;
  sources: { repository: string; problem: string | null }[];
  delivery_problems: { target: string; problem: string }[];
  supervisor: number | null;
  /** Values of the engine: it keeps the environment that it was started with. */
  secrets: { key: string; name: string; is_set: boolean }[];
  /** Of its start as well. */
  environment: { path: string | null; home: string | null };
  /** Null while it is being determined. */
  containment: 'cgroup' | 'pidns' | 'marks' | null;
  link: LinkFacts;
}

export const reportPass = (check: string, found: string): DoctorCheck => ({
  check,
  state: 'ok',
  found,
  remedy: null,
});
export const reportWarning = (check: string, found: string, remedy: string | null): DoctorCheck => ({
  check,
  state: 'warn',
  found,
  remedy,
});
export const reportFailure = (check: string, found: string, remedy: string): DoctorCheck => ({
  check,
  state: 'fail',
  found,
  remedy,
});

/** Reads the output of a program, with a short timeout. Rejects if it fails. */
export async function readOutput(
  program: string,
  args: readonly string[],
  { cwd, env }: { cwd?: string; env: NodeJS.ProcessEnv },
): Promise<string> {
  const options = { env, timeoutMs: 5000, ...(cwd === undefined ? {} : { cwd }) };
  const { stdout, stderr, error } = await runProgram(program, args, options);
  if (error !== null) throw error;
  return stdout || stderr;
}

export const readErrorMessage = (error: unknown): string => asSvcError(error).message;

/** Returns the folder itself, or the nearest existing one above it. */
export function findNearestFolder(path: string): string {
  let folder = path;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
