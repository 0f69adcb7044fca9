import { z } from 'zod';
import { by, type Caller, operation, toWire } from '../../core/api/operation.ts';
import { tool, UNLISTED } from '../../core/api/tool.ts';
import { SvcError } from '../../core/base/errors.ts';
import type { Sessions } from '../../workers/sessions/index.ts';
import { agentOverrides, timeoutSec } from '../dispatch-options.ts';
import { body, id, priority } from '../input.ts';
import type { Task } from '../tasks/index.ts';
import type { BoardOperationsDeps } from './deps.ts';
import { taskListOperations } from './task-lists.ts';

export type { ListedTask } from '../tasks/index.ts';
export type { TaskChoices } from './task-lists.ts';

const taskId = id.describe('task, e.g. t-42');
const names = { task_id: 'id', session_id: 'session' } as const;

/** The output for agents about a created or changed task. */
const taskOutline = z.object({ id: z.string(), status: z.string(), agent: z.string().nullable() });

const title = z.string().trim().min(1).max(500).describe('one line');

const newTaskParameters = z.strictObject({
  title,
  acceptance_criteria: z
    .array(z.string().min(1))
    .max(100)
    .optional()
    .describe('each is shown to the worker and reported met or not met'),
  agent: z.string().min(1).optional().meta({ description: 'preset that runs it', names: 'agents' }),
  body: body.optional().describe('what to do; default: the title'),
  context: z.string().max(1_000_000).optional().describe('further context for the worker'),
  ledger: z
    .string()
    .min(1)
    .optional()
    .describe('Markdown checklist; the task does not run while its ## Clarify has open items'),
});

/** Tasks that have to be finished first. */
const after = z.array(id).max(100);

/** A person's input for a new task, with more than agents are offered. */
export const newTaskInput = newTaskParameters.extend({
  /** By default the first line of the body. */
  title: title.optional(),
  project: z.string().optional(),
  template: z.string().optional(),
  timeout_sec: timeoutSec,
  priority,
  after: after.optional(),
});

/** Operations on tasks; agents are offered the ones that are tools. */
export const taskOperations = (deps: BoardOperationsDeps) => [
  ...taskListOperations(deps),
  ...taskChangeOperations(deps),
];

/** Operations that create, assign, cancel and end tasks. */
function taskChangeOperations(deps: BoardOperationsDeps) {
  const { tasks, sessions, workflow, agents, actions } = deps;
  const findTaskId = (prefix: string) => tasks.resolve(prefix).taskId;
  return [
    tool({
      name: 'task.add',
      about: 'Create a task without starting it. With an agent it is assigned and can run, otherwise open.',
      seat: 'chair',
      changes: true,
      parameters: newTaskParameters,
      input: newTaskInput,
      output: taskOutline,
      names,
      say: ({ id, status, agent }) => `${id} is ${status}${agent === null ? '' : ` to ${agent}`}.`,
      run: (input, caller, call) => call.finish(() => toWire(tasks.create(actions.newTask(input, caller)))),
    }),
    tool({
      name: 'task.assign',
      about: 'Assign a task to an agent; an approval for another agent becomes invalid.',
      seat: 'chair',
      changes: true,
      idempotent: true,
      input: z.strictObject({
        agent: z.string().min(1).meta({ description: 'preset', names: 'agents' }),
        id: taskId,
      }),
      output: taskOutline,
      names,
      say: ({ id, agent }) => `${id} is assigned to ${agent}.`,
      run: (input, caller, call) =>
        call.finish(() => {
          agents.withOverrides(agentOverrides(caller)).findCommand(input.agent);
          return toWire(workflow.assign(findTaskId(input.id), input.agent, by(caller)));
        }),
    }),
    operation({
      name: 'task.after',
      about:
        'Replaces the tasks that have to be finished before a task starts; none of them lets it start. Refused once it has started.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id, after }),
      run: (input, caller, call) =>
        call.finish(() => tasks.setPredecessors(findTaskId(input.id), input.after, by(caller))),
    }),
    operation({
      name: 'task.cancel',
      about: 'Stop a task: its worker ends, and its work so far stays on its branch.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id }),
      run: (input, caller, call) => call.finish(() => workflow.cancel(findTaskId(input.id), by(caller))),
    }),
    tool({
      name: 'task.done',
      about:
        'Mark a task done or failed. A worker marks its own task, after verify_report; no one else may while it runs.',
      seat: 'any',
      changes: true,
      idempotent: true,
      input: z.strictObject({
        id: taskId,
        status: z.enum(['done', 'failed']).optional().describe('default done'),
        summary: z.string().optional().meta(UNLISTED),
      }),
      output: z.object({ id: z.string(), status: z.string() }),
      names,
      say: ({ id, status }) => `${id} is ${status}.`,
      run({ id: prefix, status = 'done', summary = null }, caller, call) {
        return call.finish(() => {
          const task = tasks.resolve(prefix);
          checkOwn(task, caller, sessions);
          const speaker = speakerOf(caller);
          return toWire(
            task.status === status
              ? task
              : workflow.done(task.taskId, { status, summary, speaker }, by(caller)),
          );
        });
      },
    }),
  ];
}

/** Returns the session that speaks as the worker of a task; null for a Chair. */
export const speakerOf = ({ seat, sessionId }: Caller): string | null =>
  seat === 'chair' ? null : sessionId;

/** A worker speaks for its own task only. */
function checkOwn(
  task: Task,
  { seat, sessionId }: Caller,
  sessions: Pick<Sessions, 'isKnown' | 'get'>,
): void {
  if (seat === 'chair' || (sessionId !== null && sessionId === task.sessionId)) return;
  const isRacer =
    task.race !== null &&
    sessionId !== null &&
    sessions.isKnown(sessionId) &&
    sessions.get(sessionId).race === task.race;
  if (!isRacer) throw new SvcError('chair_only', `${task.taskId} is not the task of this session`);
}
