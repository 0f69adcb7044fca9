import { z } from 'zod';
import {
  actorDenied,
  by,
  type CallAuthor,
  type Caller,
  checkLocalActor,
  checkOwnTask,
  mayAct,
  type OperationCall,
  operation,
  toWire,
} from '../../core/api/operation.ts';
import { tool } from '../../core/api/tool.ts';
import { renderWords } from '../../core/api/words.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import { isOwnSeat, projectOfAddress, type Session } from '../../workers/sessions/index.ts';
import { agentOverrides, dispatchInput, readDispatchOptions } from '../dispatch-options.ts';
import { hash, id, plannedOptions } from '../input.ts';
import type { Task } from '../tasks/index.ts';
import { sayEnded, type TaskVerdict, verdictOf, waitForEnd } from '../tasks/verdict.ts';
import { checkNotReplaced, type SubmitResult } from '../workflow/index.ts';
import type { BoardOperationsDeps } from './deps.ts';

/** How to start a worker. */
const dispatching = {
  ...dispatchInput,
  actor: z.string().min(1).optional().describe('who acts; default: you'),
  session: z.string().min(1).optional().describe('parent session; default: yours'),
  wait: z.boolean().optional().describe('wait for the end; default false'),
};

const dispatchWorker = z.strictObject({
  agent: z.string().min(1).meta({ description: 'preset that does the work', names: 'agents' }),
  prompt: z
    .string()
    .min(1)
    .max(4_000_000)
    .optional()
    .describe('complete instructions: the worker sees nothing else; required without task'),
  task: id.optional().describe('instead of a prompt: race this task, one call per agent'),
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

/** The output for agents about a dispatch. */
const dispatched = z.object({
  task_id: z.string(),
  session_id: z.string(),
  worker_id: z.string(),
  status: z.string(),
  verdict: z.looseObject({}).nullable(),
});

const sayDispatched = (result: z.output<typeof dispatched>): string =>
  result.verdict === null
    ? renderWords(
        sentence`${result.task_id} is dispatched as ${result.session_id} (worker ${result.worker_id}). Its verdict comes as a handoff message: {msg.inbox}.`,
        'tools',
      )
    : sayEnded(result.session_id, result.verdict as unknown as TaskVerdict);

/** Operations to start a worker on a task, and to plan it. */
export function runOperations(deps: BoardOperationsDeps) {
  const { tasks, decisions, sessions, workflow, plans, agents, peers, actions } = deps;
  /** Returns the options of a run without flags: its open decision's. */
  const planOptions = (task: Task, caller: Caller) => plannedOptions(decisions, task.taskId, caller);

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

  /** Inside `storage.write`: a failed task is retried, and a task for another project moves there. */
  function prepareRun(
    { taskId, project, status, agent }: Task,
    wanted: string | undefined,
    caller: Caller,
    actor: CallAuthor,
  ): void {
    deps.requireConsent();
    if (agent !== null) agents.withOverrides(agentOverrides(caller)).checkInstalled(agent, wanted ?? project);
    if (status === 'failed') workflow.retry(taskId, actor);
    if (wanted === undefined || wanted === project) return;
    agents.resolveFolder(wanted);
    workflow.move(taskId, wanted, actor);
  }

  /** Adds one more agent to a race on a task. */
  function joinRace({ task: named, ...input }: z.infer<typeof dispatchWorker>, caller: Caller): SubmitResult {
    const others = (['prompt', 'title', 'project', 'name', 'inplace'] as const).filter(
      (key) => input[key] !== undefined,
    );
    if (others.length > 0)
      throw new SvcError(
        'fields_invalid',
        `task: a race uses the values of its task, so omit ${others.join(', ')}`,
      );
    deps.requireConsent();
    const task = tasks.resolve(named as string);
    agents.withOverrides(agentOverrides(caller)).checkInstalled(input.agent, task.project);
    const actor = readActor(input, caller);
    if (task.status === 'failed') workflow.retry(task.taskId, actor);
    return workflow.join(task.taskId, input.agent, readOptions(input, caller), actor);
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

  return [
    tool({
      name: 'dispatch.worker',
      about:
        'Create a task and start one worker on it in a separate git worktree. Returns immediately; the verdict comes as a handoff message.',
      seat: 'chair',
      changes: true,
      input: dispatchWorker,
      output: dispatched,
      say: sayDispatched,
      async run(input, caller, call) {
        const submitted = await call.begin(() => {
          const { agent, prompt, title, project } = input;
          if (input.task !== undefined) return joinRace(input, caller);
          if (prompt === undefined)
            throw new SvcError('fields_invalid', 'prompt: required, unless task names a task to race');
          agents.withOverrides(agentOverrides(caller)).checkInstalled(agent, project ?? caller.project);
          const wanted = actions.newTask({ agent, body: prompt, title, project }, caller);
          const former = findFormer(input, wanted.project ?? null);
          const stranger = former === null ? null : tasks.get(former.taskId).stranger;
          const { actor } = readActor(input, caller);
          const { taskId } = tasks.create({ ...wanted, stranger, actor });
          const continues = former?.sessionId;
          return actions.run(taskId, { ...readOptions(input, caller), continues }, readActor(input, caller));
        });
        return answerDispatch(submitted, input.wait, call);
      },
    }),
    operation({
      name: 'task.plan',
      about: 'The decisions that a run of the task would make now; `problem` is the obstacle, if any.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ id }),
      run(input, caller) {
        const task = tasks.resolve(input.id);
        checkOwnTask(caller, task.taskId, task.taskId);
        return plans.of(task, planOptions(task, caller));
      },
    }),
    tool({
      name: 'task.run',
      about:
        'Start a worker on a task, which approves it. Refused while its ledger has open questions. Returns immediately; the verdict comes as a handoff message.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        id: id.describe('task, e.g. t-42; a failed task is run again'),
        project: z
          .string()
          .optional()
          .meta({ description: 'run it in this registered project', names: 'projects' }),
        /** Only if the task still has the same text. */
        hash: hash.meta({ unlisted: true }),
        ...dispatching,
      }),
      output: dispatched,
      say: sayDispatched,
      async run(input, caller, call) {
        const actor = readActor(input, caller);
        const submitted = await call.begin(() => {
          const task = tasks.resolve(input.id);
          plans.check(task, input.hash, planOptions(task, caller));
          prepareRun(task, input.project, caller, actor);
          return actions.run(task.taskId, readOptions(input, caller), actor);
        });
        return answerDispatch(submitted, input.wait, call);
      },
    }),
    operation({
      name: 'task.retry',
      about:
        'Return a failed task to assigned, keep its history, and run it again unless held. With `hash`, only if it still matches what will run.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id, hash, hold: z.boolean().optional(), ...dispatchInput }),
      run: async (input, caller, call) =>
        checkNotReplaced(
          await call.begin((): SubmitResult => {
            const failed = tasks.resolve(input.id);
            plans.check(failed, input.hash, planOptions(failed, caller));
            const task = workflow.retry(failed.taskId, by(caller));
            if (input.hold === true) return { task, decision: null, session: null };
            return actions.run(task.taskId, readDispatchOptions(input, caller), by(caller));
          }),
        ),
    }),
  ];
}
