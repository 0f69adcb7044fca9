import { SvcError } from '../../core/base/errors.ts';
import type { Session } from '../../workers/sessions/index.ts';
import type { Decision, Decisions } from '../decisions/index.ts';
import type { RunInputs } from '../decisions/inputs.ts';
import type { DispatchOptions } from '../dispatch-options.ts';
import type { Races } from '../races/index.ts';
import type { Task, Tasks } from '../tasks/index.ts';
import type { DispatchPort, SubmitResult } from './dispatch.ts';

/** The task as each of its agents gets it. */
export const listRunners = (task: Task, { race }: DispatchOptions): Task[] =>
  race === undefined ? [task] : race.map((agent) => ({ ...task, agent }));

/** Turns the decision of a race into its sessions, inside `storage.write`. Part of the workflow's one path to a start. */
export function createRaceStart({
  tasks,
  decisions,
  dispatch,
  races,
  inputsOf,
}: {
  tasks: Tasks;
  decisions: Decisions;
  dispatch: Pick<DispatchPort, 'enqueue'>;
  races: Races;
  inputsOf(task: Task, options: DispatchOptions): RunInputs;
}): {
  /** Starts a session for each agent, all in one transaction: a race starts completely or not at all. */
  startRace(task: Task, decision: Decision, options: DispatchOptions): SubmitResult & { decision: Decision };
  /** Adds an agent to the open race of a task, under its decision. */
  joinRace(task: Task, race: number, agent: string, options: DispatchOptions): SubmitResult;
} {
  const describeStart = (task: Task, decisionId: string, sessions: readonly Session[], session: Session) => ({
    task: tasks.get(task.taskId),
    decision: decisions.get(decisionId),
    session,
    sessions: [...sessions],
  });

  return {
    startRace(task, decision, options) {
      const { id } = races.begin(task.taskId);
      const sessions = listRunners(task, options).map((each) =>
        dispatch.enqueue(each, decision, options, id),
      );
      const [session] = sessions;
      if (session === undefined) throw new SvcError('usage', 'a race needs an agent');
      decisions.consume(decision.decisionId, session.sessionId);
      return describeStart(task, decision.decisionId, sessions, session);
    },

    joinRace(task, race, agent, options) {
      const { decisionId } = races.firstOf(race);
      const { inputs, options: before } = decisions.boundTo(decisionId);
      const joined = { ...before, race: [...(before.race ?? []), agent] };
      const now = inputsOf(task, joined);
      // The approval of the others stays unchanged.
      const added = now.race?.at(-1);
      const agents = [...(inputs?.race ?? []), ...(added === undefined ? [] : [added])];
      decisions.bindTo(decisionId, { inputs: { ...(inputs ?? now), race: agents }, options: joined });
      const asked = { ...joined, parent: options.parent };
      const session = dispatch.enqueue({ ...task, agent }, decisions.get(decisionId), asked, race);
      return describeStart(task, decisionId, [session], session);
    },
  };
}
