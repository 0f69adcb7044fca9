import { join } from 'node:path';
import type { Session } from '../../sessions/index.ts';
import type { Confinement } from './confinement.ts';

/** A command that runs in a session's folder for somebody other than its agent. */
export interface SessionCommand {
  argv: readonly string[];
  cwd: string;
  /** Whole, as for a worker. */
  env: Readonly<Record<string, string>>;
}

/**
 * Wraps a command of a session for its start. For a confined session it runs in the same sandbox, but without the
 * agent's login and without a way to the engine, and ends with its parent process. Throws as `Confinement.wrap` does;
 * nothing runs then.
 */
export type CommandConfinement = (
  session: Pick<Session, 'sessionId' | 'profile' | 'worktree'>,
  command: SessionCommand,
) => Promise<readonly string[]>;

/** @param agentsDir the folder of the sessions' own folders */
export const createCommandConfinement =
  (confinement: Confinement, agentsDir: string): CommandConfinement =>
  async ({ sessionId, profile, worktree }, { argv, cwd, env }) => {
    // The profile of the run counts, whatever the configuration says meanwhile.
    if (profile !== 'strict') return argv;
    return confinement.wrap({
      // Resolved inside: through a worker's link outside we would show what it leads to.
      argv: ['/bin/sh', '-c', 'exec "$@"', 'svc', ...argv],
      cwd,
      env,
      worktree,
      sessionFolder: join(agentsDir, sessionId),
      seatFolder: null,
      home: null,
      // The next git call would find what it has left there.
      isGuest: true,
      endsWithParent: true,
    });
  };
