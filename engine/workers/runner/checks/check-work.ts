import type { CommandConfinement, SessionCommand } from '../confine/index.ts';
import type { RunProcesses } from '../processes/index.ts';
import {
  type CheckedSession,
  type CheckedWork,
  type CleanCheckoutsDeps,
  createCleanCheckouts,
  type SetupRun,
} from './clean-checkout.ts';
import { type CommandEnd, runCheck } from './run-check.ts';

export interface ChecksRun<Found = unknown> extends SetupRun {
  /** The commands that run, one after another. */
  commands: readonly string[];
  progress(message: string): void;
  /** Looks at the checkout after them. */
  look(folder: string): Promise<Found>;
}

/** Commands that run in a clean checkout, without a look at it. */
export type CommandsRun = Omit<ChecksRun, 'look'>;

/** Another machine that checks work. */
export interface MachineChecker {
  /** Its name. */
  name: string;
  /** Runs commands in a clean checkout there. Throws as `WorkChecks.check` does, and as fleets do. */
  check(work: CheckedWork, run: CommandsRun): Promise<CommandEnd[]>;
}

/** Checks the work of sessions on this machine, each in a clean checkout. */
export interface WorkChecks {
  /**
   * Prepares a checkout as a worktree, runs commands in it and removes it. Leaves no process and no folder behind. Throws
   * as `CleanCheckouts.makeCheckout` does, and `spawn_failed`.
   */
  check<Found>(work: CheckedWork, run: ChecksRun<Found>): Promise<{ ends: CommandEnd[]; found: Found }>;
  /** Ends what a killed process has left of such a check, by its mark. */
  clear(checked: CheckedSession, mark: string): Promise<void>;
}

export interface WorkChecksDeps extends CleanCheckoutsDeps {
  processes: Pick<RunProcesses, 'readStartTime' | 'stop' | 'sweep' | 'contain'>;
  /** The environment of a command. */
  environment(extra: Record<string, string>): Record<string, string>;
  confine: CommandConfinement;
}

export function createWorkChecks(deps: WorkChecksDeps): WorkChecks {
  const { processes, environment, confine } = deps;
  const checkouts = createCleanCheckouts(deps);

  return {
    async check(work, { commands, progress, look, ...limits }) {
      const { session, commit } = work;
      try {
        progress(`checks out ${commit.slice(0, 10)} and makes it ready`);
        const { folder, cwd } = await checkouts.makeCheckout(work, limits);
        const running = {
          processes,
          environment,
          confine: (command: SessionCommand) => confine({ ...session, worktree: folder }, command),
          isConfined: session.profile === 'strict',
        };
        const ends: CommandEnd[] = [];
        for (const [at, command] of commands.entries()) {
          progress(`runs ${at + 1} of ${commands.length}: ${command}`);
          ends.push(await runCheck(command, { cwd, ...limits }, running));
        }
        return { ends, found: await look(folder) };
      } finally {
        await checkouts.removeCheckouts(work);
      }
    },
    async clear(checked, mark) {
      await processes.sweep(mark);
      await checkouts.removeCheckouts(checked);
    },
  };
}
