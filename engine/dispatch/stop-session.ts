import type { DispatchPort } from '../board/workflow/index.ts';
import { NO_FACTS } from '../workers/agents/index.ts';
import { NOTHING_KEPT } from '../workers/runner/runs/index.ts';
import type { DispatchDeps } from './context.ts';
import type { RunQueue } from './queue.ts';
import { recordEnd } from './record-end.ts';
import { decideVerdict, NEVER } from './verdict.ts';

/** Returns `DispatchPort.stop`. */
export function createStop(
  deps: DispatchDeps,
  {
    queue,
    looks,
    endStopped,
  }: {
    queue: Pick<RunQueue, 'ownSessionNext' | 'startWaiting'>;
    looks: ReadonlySet<() => void>;
    endStopped(sessionId: string): Promise<void>;
  },
): DispatchPort['stop'] {
  const { storage, sessions, events } = deps;

  /** After the commit that stops a session: its supervisor notices. */
  function lookAtStops(): void {
    for (const look of looks) look();
  }

  /** After the commit that stopped a paused session: it ends, and its work is saved. */
  function endDropped(sessionId: string): void {
    queue.ownSessionNext(sessionId, () => {
      // It may have ended by then.
      const { state, stopReason } = sessions.get(sessionId);
      return state === 'queued' && stopReason !== null ? () => endStopped(sessionId) : null;
    });
  }

  return (sessionId, reason, by) => {
    const session = sessions.get(sessionId);
    if (!sessions.stopping(sessionId, reason, by.actor)) return;
    events.append({ kind: 'session_stopping', taskId: session.taskId, sessionId, ...by, data: { reason } });
    storage.afterCommit(lookAtStops);
    storage.afterCommit(queue.startWaiting);
    if (session.state !== 'queued') return;
    // A waiting session has nothing to stop, and need not wait for a slot to end; but a paused one's work is saved.
    if (session.cwd === null)
      recordEnd(deps, session, decideVerdict(sessions.get(sessionId), NEVER), NOTHING_KEPT, NO_FACTS);
    else storage.afterCommit(() => endDropped(sessionId));
  };
}
