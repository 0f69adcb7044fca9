import type { Placement } from '../sessions/index.ts';
import type { DispatchDeps } from './context.ts';
import { logFile } from './folders.ts';
import { createHearing } from './hear.ts';
import { type Run, supervise } from './supervise.ts';
import { isOfWorkers } from './untrusted.ts';

/**
 * Makes a new worktree ready before its agent starts, under the limits of the session: it can be cancelled, and has
 * the time that the agent has. What it prints is in the log ahead of what the agent says.
 */
export async function prepare(
  deps: DispatchDeps,
  { sessionId, runId, looks, closing }: Pick<Run, 'sessionId' | 'runId' | 'looks' | 'closing'>,
  placement: Placement,
): Promise<void> {
  const { sessions, setup, clock, logs, storage } = deps;
  const session = sessions.get(sessionId);
  const setupSince = clock.monotonic();
  const hearing = createHearing(logFile(deps, sessionId), 0, null);
  const hasRun = await setup.prepareWorktree(
    { session, placement, runId, isOfWorkers: () => isOfWorkers(deps, session) },
    {
      mayContinue: () => sessions.get(sessionId).stopReason === null && !closing.aborted,
      waitForEnd: (running) =>
        supervise(deps, { sessionId, runId, running, hearing, looks, closing, setupSince }),
    },
  );
  if (hasRun) await storage.write(() => sessions.outputFrom(sessionId, logs.tail(sessionId, 0)));
}
