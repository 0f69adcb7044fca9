import { z } from 'zod';
import { by, checkOwnTask, operation } from '../../core/api/operation.ts';
import { tool } from '../../core/api/tool.ts';
import { renderWords } from '../../core/api/words.ts';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import { agentOverrides, dispatchInput, readDispatchOptions } from '../dispatch-options.ts';
import { hash, id } from '../input.ts';
import { sayEnded, type TaskVerdict } from '../tasks/verdict.ts';
import { checkNotReplaced, type SubmitResult } from '../workflow/index.ts';
import type { BoardOperationsDeps } from './deps.ts';
import { createRunRequests, dispatchWorker, runTask } from './run-requests.ts';
import { newTaskInput } from './tasks.ts';

/** The output for agents about a dispatch. */
const dispatched = z.object({
  id: z.string(),
  session: z.string(),
  name: z.string(),
  status: z.string(),
  verdict: z.looseObject({}).nullable(),
});

const names = { task_id: 'id', session_id: 'session', worker_id: 'name' } as const;

const sayDispatched = (result: z.output<typeof dispatched>): string =>
  result.verdict === null
    ? renderWords(
        sentence`${result.id} is dispatched as ${result.session} (worker ${result.name}). Its verdict comes as a handoff message: {msg.inbox}.`,
        'tools',
      )
    : sayEnded(result.session, result.verdict as unknown as TaskVerdict);

/** The error of a run whose new task is undone with it: no command can use its id. */
function sayNotCreated({ code, message, hint, data, cause }: SvcError, taskId: string): SvcError {
  return new SvcError(code, `${message.replaceAll(taskId, 'the task')}; no task was created`, {
    ...(hint === undefined || String(hint).includes(taskId) ? {} : { hint }),
    data,
    cause,
  });
}

/** Operations to start a worker on a task, and to plan it. */
export function runOperations(deps: BoardOperationsDeps) {
  const { tasks, workflow, plans, agents, actions } = deps;
  const {
    planOptions,
    checkAgent,
    readActor,
    prepareRun,
    joinRace,
    findFormer,
    readOptions,
    answerDispatch,
  } = createRunRequests(deps);

  return [
    tool({
      name: 'dispatch.worker',
      about:
        'Create a task and start one worker on it in a separate git worktree. Returns immediately; the verdict comes as a handoff message.',
      seat: 'chair',
      changes: true,
      input: dispatchWorker,
      output: dispatched,
      names,
      say: sayDispatched,
      async run(input, caller, call) {
        const submitted = await call.begin(() => {
          const { agent, prompt, title, project } = input;
          checkAgent(agent, project ?? caller.project, input, caller);
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
      name: 'task.start',
      about: 'Create a task and start a worker on it, or neither. Without an agent the default one gets it.',
      seat: 'chair',
      changes: true,
      input: newTaskInput.extend(dispatchInput),
      run: async (input, caller, call) =>
        checkNotReplaced(
          await call.begin(() => {
            deps.requireConsent();
            const wanted = actions.newTask(input, caller);
            const known = agents.withOverrides(agentOverrides(caller));
            const agent = wanted.agent ?? known.requireDefaultAgent();
            checkAgent(agent, wanted.project ?? null, input, caller);
            const { taskId } = tasks.create({ ...wanted, agent });
            try {
              return actions.run(taskId, readDispatchOptions(input, caller), by(caller));
            } catch (error) {
              throw sayNotCreated(asSvcError(error), taskId);
            }
          }),
        ),
    }),
    operation({
      name: 'task.plan',
      about: 'The decisions that a run of the task would make now; `problem` is the obstacle, if any.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ id, base: dispatchInput.base }),
      run(input, caller) {
        const task = tasks.resolve(input.id);
        checkOwnTask(caller, task.taskId, task.taskId);
        return plans.of(task, planOptions(task, caller, input.base));
      },
    }),
    tool({
      name: 'task.run',
      about:
        'Start a worker on a task, which approves it. Refused while its ledger has open questions. Returns immediately; the verdict comes as a handoff message.',
      seat: 'chair',
      changes: true,
      input: runTask,
      output: dispatched,
      names,
      say: sayDispatched,
      async run(input, caller, call) {
        const actor = readActor(input, caller);
        const submitted = await call.begin(() => {
          const task = tasks.resolve(input.id);
          if (input.agent !== undefined) return joinRace(task, input.agent, input, caller);
          plans.check(task, input.hash, planOptions(task, caller, input.base));
          prepareRun(task, input, caller, actor);
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
            plans.check(failed, input.hash, planOptions(failed, caller, input.base));
            const task = workflow.retry(failed.taskId, by(caller));
            if (input.hold === true) return { task, decision: null, session: null };
            return actions.run(task.taskId, readDispatchOptions(input, caller), by(caller));
          }),
        ),
    }),
  ];
}
