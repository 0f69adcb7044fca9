import type { CallAuthor } from '../core/api/operation.ts';
import { SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import type { EventLog } from '../storage/index.ts';
import type { Session } from '../workers/sessions/index.ts';
import { type ContinuationDeps, createContinuation, type SessionContinuation } from './continue-session.ts';
import type { Dispatcher } from './index.ts';
import { createVisits, type SessionVisits, type VisitsDeps } from './session-visits.ts';

/** Actions of a person on a worker's session. */
export interface SessionActions extends SessionContinuation, SessionVisits {
  /** Inside `storage.write`: stops it; its work stays on its branch. Throws `conflict` if it has ended. */
  kill(sessionId: string, by: CallAuthor): Session;
  /** Inside `storage.write`: makes a running one read its messages now. Throws `conflict` for one that cannot. */
  interrupt(sessionId: string, by: CallAuthor): Session;
}

export interface SessionActionsDeps extends ContinuationDeps, VisitsDeps {
  events: Pick<EventLog, 'append'>;
  visitors: VisitsDeps['visitors'];
  dispatcher: Pick<Dispatcher, 'stop' | 'resume' | 'look'>;
}

export function createSessionActions(deps: SessionActionsDeps): SessionActions {
  const { sessions } = deps;
  return {
    ...createContinuation(deps),
    ...createVisits(deps),

    kill(sessionId, by) {
      if (sessions.get(sessionId).state === 'ended')
        throw new SvcError('conflict', `${sessionId} has already ended`);
      deps.dispatcher.stop(sessionId, 'cancelled', by);
      return sessions.get(sessionId);
    },

    interrupt(sessionId, { actor, via }) {
      const session = sessions.get(sessionId);
      const { state, taskId, transport } = session;
      if (state === 'ended')
        throw new SvcError('conflict', `${sessionId} has finished and reads no messages`, {
          hint: sentence`{worker.follow_up ${sessionId} "…"} gives it more work`,
        });
      if (state !== 'running')
        throw new SvcError('conflict', `${sessionId} is ${state}: it reads its messages once it runs`);
      if (transport !== 'acp')
        throw new SvcError(
          'conflict',
          `${sessionId} does not use the agent client protocol, so it cannot be interrupted`,
          {
            hint: sentence`{worker.kill ${sessionId}} stops it, and {worker.follow_up ${sessionId} "…"} gives it more work`,
          },
        );
      deps.events.append({ kind: 'session_interrupted', sessionId, taskId, actor, via });
      return session;
    },
  };
}
