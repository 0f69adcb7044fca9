import { join } from 'node:path';
import type { Session } from '../../sessions/index.ts';
import type { Confinement } from './confinement.ts';

/** A command that is run in the folder of a session, for somebody else than its agent. */
export interface SessionCommand {
  argv: readonly string[];
  cwd: string;
  /** Whole, as for a worker. */
  env: Readonly<Record<string, string>>;
}

/**
 * The command as it is to be started. For a session that runs confined it is one in the same sandbox, but without the
 * agent's login and without a way to the engine, and it ends with whatever has started it. Throws as `Confinement.wrap`
 * does: nothing then runs.
 */
export type CommandConfinement = (
  session: Pick<Session, 'sessionId' | 'profile' | 'worktree'>,
  command: SessionCommand,
) => Promise<readonly string[]>;

/** @param agentsDir the folder of the sessions' own folders */
export const createCommandConfinement =
  (confinement: Confinement, agentsDir: string): CommandConfinement =>
  async ({ sessionId, profile, worktree }, { argv, cwd, env }) => {
    // As the run began, whatever the configuration says meanwhile.
    if (profile !== 'strict') return argv;
    return confinement.wrap({
      // Looked for inside: a link that the worker has put there would have us show what it leads to.
      argv: ['/bin/sh', '-c', 'exec "$@"', 'svc', ...argv],
      cwd,
      env,
      worktree,
      sessionFolder: join(agentsDir, sessionId),
      seatFolder: null,
      home: null,
      // Whoever calls git next would find what it has left there.
      isGuest: true,
      endsWithParent: true,
    });
  };
