import { UNTIL_ANSWERED } from '../core/api/state-words.ts';
import { NO_FACTS, type StreamFacts } from '../workers/agents/index.ts';
import type { Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';
import { describeQuestions } from './pause.ts';
import type { PersistRun } from './persist.ts';
import { recordEnd } from './record-end.ts';
import { hasOpenTask } from './record-pause.ts';
import { decideVerdict, NEVER, type RunVerdict } from './verdict.ts';

/** A session that loses its machine again and again must end some day. */
const MOST_LOST = 3;

/** Takes the runs of sessions from machines that were lost, cut off or removed. */
export interface RunLosses {
  /**
   * Gives up the run of a session with its machine. The session continues elsewhere from what was saved of it, or ends.
   * @param facts what the run has reported so far
   */
  loseRun(sessionId: string, facts?: StreamFacts): Promise<void>;
  /** Lets a paused session continue on another machine, from what was saved of it. */
  leaveMachine(sessionId: string): Promise<void>;
}

export function createRunLosses(deps: DispatchDeps, persist: PersistRun): RunLosses {
  const { sessions, tasks, events, machines, questions, keys, clock, log } = deps;

  /** Inside `storage.write`. False if the session was stopped, or its task has ended. */
  function continueElsewhere(session: Session, text: string, facts: StreamFacts): boolean {
    const { sessionId, taskId, stopReason } = session;
    if (stopReason !== null || !hasOpenTask(tasks, session)) return false;
    if (sessions.countLostRuns(sessionId) >= MOST_LOST) return false;
    const kept = questions.keep(sessionId);
    const isAsking = kept.open.length > 0;
    const resumeAt = isAsking ? UNTIL_ANSWERED : null;
    const why = [text, describeQuestions(kept)].filter((each) => each !== '').join('; ');
    sessions.heard(sessionId, facts);
    if (
      !sessions.leaveMachine(sessionId, {
        code: isAsking ? 'unanswered' : 'runner_lost',
        text: why,
        resumeAt,
      })
    )
      return false;
    keys.revokeKey(sessionId);
    tasks.pause(taskId, sessionId, resumeAt ?? clock.now());
    return true;
  }

  const describeEnd = (session: Session, text: string): RunVerdict =>
    session.stopReason === null
      ? {
          ...{ sealed: false, exitCode: null, exitSignal: null },
          ...{ failure: { code: 'runner_lost', text }, reason: text },
        }
      : decideVerdict(session, NEVER);

  return {
    async loseRun(sessionId, facts = NO_FACTS) {
      const before = sessions.get(sessionId);
      const { runner } = before;
      if (before.state === 'ended' || runner === null) return;
      const { text, mayMove } = machines.explainLoss(runner);
      const kept = await machines.takeStock(before);
      await persist(`the loss of ${sessionId}`, () => {
        const session = sessions.get(sessionId);
        const { state, taskId, decisionId, title, agent } = session;
        if (state === 'ended' || session.runner !== runner) return;
        sessions.recordLostRun(session);
        events.append({
          ...{ kind: 'run_lost', taskId, decisionId, sessionId, via: 'engine' },
          data: { title, agent, runner, reason: text },
        });
        if (mayMove && continueElsewhere(session, text, facts)) return;
        recordEnd(deps, session, describeEnd(session, text), kept, facts);
      });
      log.warn({ session: sessionId, runner }, text);
      machines.settle(runner);
    },
    async leaveMachine(sessionId) {
      const { runner } = sessions.get(sessionId);
      if (runner === null) return;
      await machines.takeStock(sessions.get(sessionId));
      await persist(`the move of ${sessionId}`, () => {
        const session = sessions.get(sessionId);
        const { pause } = session;
        sessions.recordLostRun(session);
        const text = `it continues on another machine, since ${machines.explainLoss(runner).name} takes no run`;
        sessions.leaveMachine(sessionId, {
          code: pause?.code ?? 'runner_lost',
          text: pause === null ? text : `${pause.text}; ${text}`,
          resumeAt: null,
        });
      });
      machines.settle(runner);
    },
  };
}
