import { join } from 'node:path';
import type { Session } from '../../sessions/index.ts';
import type { Confinement } from './confinement.ts';

/** A command that runs in a session's folder on behalf of another program than its agent. */
export interface SessionCommand {
  argv: readonly string[];
  cwd: string;
  /** The whole environment, as for a worker. */
  env: Readonly<Record<string, string>>;
}

/**
 * Wraps a command of a session for its start. For a confined session it runs in the same sandbox, but without the
 * agent's login and without a way to the engine, and ends with its parent process. Throws as `Confinement.wrap` does;
 * nothing runs then.
 */
export type CommandConfinement = (
  session: Pick<Session, 'sessionId' | 'profile'> & { worktree: string | null },
  command: SessionCommand,
) => Promise<readonly string[]>;

/** @param agentsDir the folder of the sessions' own folders */
export const createCommandConfinement =
  (confinement: Confinement, agentsDir: string): CommandConfinement =>
  async ({ sessionId, profile, worktree }, { argv, cwd, env }) => {
    // The profile of the run applies, even if the configuration has changed since.
    if (profile !== 'strict') return argv;
    return confinement.wrap({
      // Resolved inside: following a worker's link outside would expose its target.
      argv: ['/bin/sh', '-c', 'exec "$@"', 'svc', ...argv],
      cwd,
      env,
      worktree,
      sessionFolder: join(agentsDir, sessionId),
      seatFolder: null,
      home: null,
      // The next git call would find the files that it left there.
      isGuest: true,
      endsWithParent: true,
    });
  };
