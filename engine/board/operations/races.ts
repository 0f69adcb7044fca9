import { z } from 'zod';
import { by, type Caller, checkOwnTask, operation } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { StreamFacts } from '../../workers/agents/index.ts';
import { addClaim, type Session } from '../../workers/sessions/index.ts';
import { dispatchInput, readDispatchOptions } from '../dispatch-options.ts';
import { hash, id, plannedOptions } from '../input.ts';
import type { Verification } from '../verify/index.ts';
import { checkNotReplaced, type SubmitResult } from '../workflow/index.ts';
import type { BoardOperationsDeps } from './deps.ts';
import { createRunRequests } from './run-requests.ts';

/** The maximum size of a race. */
export const MOST_RACERS = 16;

/** One session of a race, for comparison. */
export interface Racer extends Session {
  /** From its first start to its end, or to now, ms; null before its start. */
  elapsedMs: number | null;
  /** svc's own verification of its tests, not the worker's report. */
  evidence: Pick<Verification, 'state' | 'reasons' | 'rerunState'> & {
    /** Commands that svc has rerun, and how many ended as reported; null before a rerun. */
    rerun: { ran: number; agree: number } | null;
  };
  /** The reason why its agent gets no work now; null if it does. */
  held: { until: string | null; code: string } | null;
}

export interface RaceOperationsDeps extends BoardOperationsDeps {
  /** Returns the state of a session's evidence, judged against its current branch. */
  evidence(sessionId: string): Promise<Verification>;
  /** The agent's open circuit; null while it gets work. */
  findHold(agent: string): { reopenAt: string | null; code: string } | null;
  /** The facts that a running session has reported so far. */
  facts(sessionId: string): StreamFacts | null;
  now(): number;
}

/** Operations to start several agents on one task, and to compare their work. */
export const raceOperations = (deps: RaceOperationsDeps) => [
  startRaceOperation(deps),
  compareOperation(deps),
];

function startRaceOperation(deps: RaceOperationsDeps) {
  const { tasks, decisions, sessions, workflow, plans } = deps;
  const { checkAgent } = createRunRequests(deps);
  const { inplace: _inplace, name: _name, ...options } = dispatchInput;

  /** Reads the options of the race; the same for its plan and its start. */
  function readOptions(
    taskId: string,
    input: { agents: string[] } & Parameters<typeof readDispatchOptions>[0],
    caller: Caller,
  ) {
    const { inplace, name } = plannedOptions(decisions, taskId, caller);
    if (inplace || name !== undefined)
      throw new SvcError(
        'usage',
        `${taskId} waits for a run ${inplace ? 'in place' : `as ${name}`}, so it cannot be raced`,
        {
          hint: sentence`{decision.deny ${tasks.get(taskId).decisionId ?? 'it'}} first`,
        },
      );
    return { ...readDispatchOptions(input, caller), race: input.agents };
  }

  return operation({
    name: 'task.race',
    about:
      'Start several agents on one task, each in a separate worktree from the same commit. One decision covers all, and one session is promoted at the end. With `hold` it waits for approval.',
    seat: 'chair',
    changes: true,
    input: z.strictObject({
      id,
      agents: z.array(z.string().min(1)).min(2).max(MOST_RACERS),
      hold: z.boolean().optional(),
      /** Only if the race would still run what was seen. */
      hash,
      ...options,
    }),
    async run(input, caller, call) {
      const submitted = await call.begin((): SubmitResult => {
        deps.requireConsent();
        const task = tasks.resolve(input.id);
        const asked = readOptions(task.taskId, input, caller);
        for (const agent of new Set(input.agents)) checkAgent(agent, task.project, asked, caller);
        plans.check(task, input.hash, { ...plannedOptions(decisions, task.taskId, caller), ...asked });
        if (task.status === 'failed') workflow.retry(task.taskId, by(caller));
        if (input.hold === true)
          return workflow.hold(task.taskId, asked, `a race was requested by ${caller.actor}`, by(caller));
        return workflow.run(task.taskId, asked, by(caller));
      });
      const { task, decision } = checkNotReplaced(submitted);
      return {
        task: tasks.get(task.taskId),
        decision: decision && decisions.get(decision.decisionId),
        sessions: (submitted.sessions ?? []).map(({ sessionId }) => sessions.get(sessionId)),
        /** Suspended agents: their sessions wait. */
        held: [...new Set(input.agents)].filter((agent) => deps.findHold(agent) !== null),
      };
    },
  });
}

function compareOperation(deps: RaceOperationsDeps) {
  const { tasks, races, sessions } = deps;

  async function describeRacer(session: Session): Promise<Racer> {
    const { state, reasons, rerun, rerunState } = await deps.evidence(session.sessionId);
    const circuit = session.state === 'queued' ? deps.findHold(session.agent) : null;
    const facts = session.state === 'running' ? deps.facts(session.sessionId) : null;
    const end = session.endedAt === null ? deps.now() : Date.parse(session.endedAt);
    const results = rerun?.results ?? [];
    return {
      ...session,
      usage: addClaim(session.usage, facts?.usage ?? null),
      toolCalls: (session.toolCalls ?? 0) + (facts?.toolCalls ?? 0),
      elapsedMs: session.startedAt === null ? null : Math.max(0, end - Date.parse(session.startedAt)),
      evidence: {
        state,
        reasons,
        rerunState,
        rerun:
          rerun === null
            ? null
            : { ran: results.length, agree: results.filter(({ agrees }) => agrees).length },
      },
      held: circuit === null ? null : { until: circuit.reopenAt, code: circuit.code },
    };
  }

  return operation({
    name: 'task.compare',
    about:
      'The latest race of a task: its sessions side by side, with the evidence that svc has for each, size, tokens, cost and time.',
    seat: 'any',
    changes: false,
    input: z.strictObject({ id }),
    async run(input, caller) {
      const task = tasks.resolve(input.id);
      checkOwnTask(caller, task.taskId, task.taskId);
      const race = races.ofTask(task.taskId);
      if (race === null)
        throw new SvcError('not_found', `${task.taskId} was never raced`, {
          hint: sentence`{task.race ${task.taskId}} starts several agents on it`,
        });
      const racers = await Promise.all(sessions.ofRace(race.id).map(describeRacer));
      return { task, race, sessions: racers };
    },
  });
}
