import { randomUUID } from 'node:crypto';
import { findProgram } from '../../agents/index.ts';
import { MARK } from './probe.ts';
import type { Processes } from './processes.ts';

/** A short command of the engine's own, to be started by whoever wants it. */
export interface PreparedCommand {
  argv: string[];
  env: Record<string, string>;
  /** Ends whatever it has left behind. */
  end(): Promise<void>;
}

/** Null when there is no such program. */
export type PrepareCommand = (argv: readonly string[], cwd: string) => Promise<PreparedCommand | null>;

/** Commands that are held together as a run is, under a mark of their own that is no session's. */
export const createCommands =
  (
    processes: Pick<Processes, 'contain' | 'sweep'>,
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
