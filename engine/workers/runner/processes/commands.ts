import { randomUUID } from 'node:crypto';
import { findProgram } from '../../../core/base/find-program.ts';
import { MARK } from './marks.ts';
import type { RunProcesses } from './processes.ts';

/** A short command of the engine's own, ready to be started by the caller. */
export interface PreparedCommand {
  argv: string[];
  env: Record<string, string>;
  /** Kills all processes that it has left behind. */
  end(): Promise<void>;
}

/** Prepares a command; null if there is no such program. */
export type PrepareCommand = (argv: readonly string[], cwd: string) => Promise<PreparedCommand | null>;

/** Prepares commands that are contained like a run, under a separate mark that belongs to no session. */
export const createCommands =
  (
    processes: Pick<RunProcesses, 'contain' | 'sweep'>,
    environment: (extra: Record<string, string>) => Record<string, string>,
  ): PrepareCommand =>
  async ([name = '', ...args], cwd) => {
    const runId = randomUUID();
    const env = environment({ [MARK]: runId });
    const program = findProgram(name, { cwd, path: env.PATH });
    if (program === undefined) return null;
    const { argv } = await processes.contain({ runId, argv: [program, ...args] });
    return { argv, env, end: async () => void (await processes.sweep(runId)) };
  };
