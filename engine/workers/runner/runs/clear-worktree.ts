import { findPlacement, type Session } from '../../sessions/index.ts';
import { describeTeardownFailure, type WorktreeSetup } from '../setup/index.ts';
import type { Runner } from './runner.ts';

/** Clears the worktree of a session on its machine; see `Runner.clear`. Never throws. */
export async function clearWorktree(
  { runner, setup }: { runner: Pick<Runner, 'clear'>; setup: Pick<WorktreeSetup, 'readProjectSetup'> },
  session: Session,
): Promise<string[]> {
  const { sessionId, taskId, project, profile } = session;
  const placement = findPlacement(session);
  if (placement === null) return [];
  try {
    return await runner.clear({
      session: { sessionId, taskId, project, profile },
      placement,
      setup: setup.readProjectSetup(project),
    });
  } catch (error) {
    return [describeTeardownFailure(sessionId, error)];
  }
}
