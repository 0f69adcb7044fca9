import { z } from 'zod';
import {
  actorDenied,
  by,
  type CallAuthor,
  type Caller,
  checkLocalActor,
  mayAct,
  type OperationCall,
  toWire,
} from '../../core/api/operation.ts';
import { UNLISTED } from '../../core/api/tool.ts';
import { SvcError } from '../../core/base/errors.ts';
import { isOwnSeat, projectOfAddress, type Session } from '../../workers/sessions/index.ts';
import {
  agentOverrides,
  type DispatchOptions,
  dispatchInput,
  readDispatchOptions,
} from '../dispatch-options.ts';
import { hash, id, plannedOptions } from '../input.ts';
import type { Task } from '../tasks/index.ts';
import { verdictOf, waitForEnd } from '../tasks/verdict.ts';
import { checkNotReplaced, type SubmitResult } from '../workflow/index.ts';
import type { BoardOperationsDeps } from './deps.ts';

/** How to start a worker. */
const dispatching = {
  ...dispatchInput,
  actor: z.string().min(1).optional().describe('who acts; default: you'),
  session: z.string().min(1).optional().describe('parent session; default: yours'),
  wait: z.boolean().optional().describe('wait for the end; default false'),
};

export const dispatchWorker = z.strictObject({
  agent: z.string().min(1).meta({ description: 'preset that does the work', names: 'agents' }),
  prompt: z.string().min(1).max(4_000_000).describe('complete instructions: the worker sees nothing else'),
  project: z
    .string()
    .optional()
    .meta({ description: 'registered project; default: yours', names: 'projects' }),
  title: z.string().trim().min(1).max(500).optional().describe('default: first line of the prompt'),
  ...dispatching,
  name: dispatching.name.describe(
    'stable worker id; an ended worker resumes in its worktree and conversation',
  ),
});

export const runTask = z.strictObject({
  id: id.describe('task, e.g. t-42; a failed task is run again'),
  agent: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'race the task: adds this preset to it, one call per agent', names: 'agents' }),
  project: z
    .string()
    .optional()
    .meta({ description: 'run it in this registered project', names: 'projects' }),
  /** Only if the task still has the same text. */
  hash: hash.meta(UNLISTED),
  ...dispatching,
});

/** Reads the requests that start a worker, and answers them. */
export function createRunRequests(deps: BoardOperationsDeps) {
  const { tasks, decisions, sessions, workflow, agents, peers } = deps;

  /** Returns the options of a run without flags: its open decision's. */
  /** @param base of the run that is planned; by default the one of its decision */
  const planOptions = (task: Task, caller: Caller, base: string | undefined) => ({
    ...plannedOptions(decisions, task.taskId, caller),
    ...(base === undefined ? {} : { base }),
  });

  function readActor(input: { actor?: string | undefined }, caller: Caller): CallAuthor {
    if (caller.seat !== 'chair') return by(caller);
    if (input.actor !== undefined) checkLocalActor(input.actor);
    if (input.actor !== undefined && !mayAct(deps.policy(), input.actor)) throw actorDenied(input.actor);
    return { ...by(caller), actor: input.actor ?? caller.actor };
  }

  /** Returns the session that gets the verdict. A Chair's seat is not a parent, and gets it anyway. */
  function parentOf(session: string, caller: Caller): string | undefined {
    if (isOwnSeat(session, caller)) return caller.sessionId ?? undefined;
    const project = projectOfAddress(session);
    if (project === undefined) return peers.known(session).sessionId;
    agents.resolveProjectId(project);
    return undefined;
  }

  /** Checks an agent where the run would go. Throws `unknown_agent`, `unknown_project`, `tool_missing`. */
  function checkAgent(
    agent: string,
    project: string | null,
    wanted: Pick<DispatchOptions, 'pool' | 'on'>,
    caller: Caller,
  ): void {
    const known = agents.withOverrides(agentOverrides(caller));
    if (deps.runsElsewhere(project, wanted)) known.findCommand(agent);
    else known.checkInstalled(agent, project);
  }

  /** Inside `storage.write`: a failed task is retried, and a task for another project moves there. */
  function prepareRun(
    { taskId, project, status, agent }: Task,
    { project: wanted, ...options }: { project?: string | undefined } & Pick<DispatchOptions, 'pool' | 'on'>,
    caller: Caller,
    actor: CallAuthor,
  ): void {
    deps.requireConsent();
    if (agent !== null) checkAgent(agent, wanted ?? project, options, caller);
    if (status === 'failed') workflow.retry(taskId, actor);
    if (wanted === undefined || wanted === project) return;
    agents.resolveFolder(wanted);
    workflow.move(taskId, wanted, actor);
  }

  /** Adds one more agent to a race on a task. */
  function joinRace(task: Task, agent: string, input: z.infer<typeof runTask>, caller: Caller): SubmitResult {
    const others = (['project', 'name', 'inplace'] as const).filter((key) => input[key] !== undefined);
    if (others.length > 0)
      throw new SvcError(
        'fields_invalid',
        `agent: a race uses the values of its task, so omit ${others.join(', ')}`,
      );
    deps.requireConsent();
    checkAgent(agent, task.project, input, caller);
    const actor = readActor(input, caller);
    if (task.status === 'failed') workflow.retry(task.taskId, actor);
    return workflow.join(task.taskId, agent, readOptions(input, caller), actor);
  }

  /** Finds the last workplace of a named worker, if it can continue there; null for a new worktree. */
  function findFormer(input: z.infer<typeof dispatchWorker>, project: string | null): Session | null {
    if (input.name === undefined || input.base !== undefined || input.inplace === true) return null;
    const former = deps.followUps.findOfWorker(input.name);
    const fits = former?.agent === input.agent && former.project === project && !former.inplace;
    return fits ? former : null;
  }

  const readOptions = (input: z.infer<z.ZodObject<typeof dispatching>>, caller: Caller) => ({
    ...readDispatchOptions(input, caller),
    ...(input.session === undefined ? {} : { parent: parentOf(input.session, caller) }),
  });

  async function answerDispatch(submitted: SubmitResult, wait: boolean | undefined, call: OperationCall) {
    const { taskId } = checkNotReplaced(submitted).task;
    const { sessionId, workerId, decisionId } = submitted.session as Session;
    const ended = wait === true ? await waitForEnd(deps, sessionId, call) : null;
    // Read again: after the wait, or after an earlier call with the same key.
    const task = tasks.get(taskId);
    const mayRetry = task.status === 'failed' && task.sessionId === sessionId;
    return {
      ...toWire({ task, decision: decisions.get(decisionId), session: sessions.get(sessionId) }),
      task_id: taskId,
      session_id: sessionId,
      worker_id: workerId,
      status: task.status,
      verdict: ended === null ? null : verdictOf(ended, deps.verificationOf(ended), mayRetry),
    };
  }

  return {
    planOptions,
    checkAgent,
    readActor,
    prepareRun,
    joinRace,
    findFormer,
    readOptions,
    answerDispatch,
  };
}
