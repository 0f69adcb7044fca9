import { z } from 'zod';
import { cursor } from '../../core/api/cursor.ts';
import { by, type Caller, checkOwnTask, operation, toWire } from '../../core/api/operation.ts';
import { sayMore, tool } from '../../core/api/tool.ts';
import { SvcError } from '../../core/base/errors.ts';
import { toPrintable } from '../../core/base/text.ts';
import type { AgentChoice, ProjectChoice } from '../../workers/agents/index.ts';
import type { Sessions } from '../../workers/sessions/index.ts';
import { agentOverrides, timeoutSec } from '../dispatch-options.ts';
import { body, id, ids, priority } from '../input.ts';
import { TASK_STATUSES, type Task, type TaskSummary } from '../tasks/index.ts';
import type { BoardOperationsDeps } from './deps.ts';

/** A task in a list, kept small: a board may have ten thousand. */
export interface ListedTask extends Omit<TaskSummary, 'acceptanceCriteria'> {
  /** True if a decision of it is pending. */
  waits: boolean;
}

/** The choices for a new task. */
export interface TaskChoices {
  agents: AgentChoice[];
  /** The agent of a task without one; null for none. */
  defaultAgent: string | null;
  templates: { id: string; agent: string | null; project: string | null }[];
  /** The workspace's own first. */
  projects: ProjectChoice[];
}

/** Accepted from clients but not listed for agents, who read every byte of the list at every start. */
const unlisted = { unlisted: true } as const;

const taskId = id.describe('task, e.g. t-42');

/** The output for agents about a created or changed task. */
const taskOutline = z.object({ task_id: z.string(), status: z.string(), agent: z.string().nullable() });

/** The output for agents about a task in a list. */
const listedTask = z
  .object({
    task_id: z.string(),
    title: z.string(),
    status: z.string(),
    agent: z.string().nullable(),
    project: z.string().nullable(),
    session_id: z.string().nullable(),
    decision_id: z.string().nullable(),
    waits: z.boolean(),
    attempt: z.int(),
    ledger: z.string().nullable(),
    failure: z.looseObject({}).nullable(),
    resume_at: z.string().nullable(),
    created_at: z.string(),
    ended_at: z.string().nullable(),
  })
  .meta(unlisted);

/** One line is enough; the rest is in the structured answer. */
const sayTask = (task: z.output<typeof listedTask>): string =>
  [
    `${task.task_id} ${task.status}`,
    ...(task.failure === null ? [] : [`(${String(task.failure.code)})`]),
    ...[task.agent, task.session_id, task.project].filter((each) => each !== null),
    JSON.stringify(toPrintable(task.title)),
  ].join(' ');

/** Operations on tasks; agents are offered the ones that are tools. */
export function taskOperations(deps: BoardOperationsDeps) {
  const { tasks, decisions, sessions, workflow, agents, actions } = deps;
  const findTaskId = (prefix: string) => tasks.resolve(prefix).taskId;
  return [
    tool({
      name: 'task.add',
      about: 'Create a task without starting it. With an agent it is assigned and can run, otherwise open.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        title: z
          .string()
          .trim()
          .min(1)
          .max(500)
          .optional()
          .describe('one line; default: taken from the body'),
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
        project: z.string().optional().meta(unlisted),
        template: z.string().optional().meta(unlisted),
        timeout_sec: timeoutSec.meta(unlisted),
        priority: priority.meta(unlisted),
      }),
      output: taskOutline,
      say: ({ task_id, status, agent }) => `${task_id} is ${status}${agent === null ? '' : ` to ${agent}`}.`,
      run: (input, caller, call) => call.finish(() => toWire(tasks.create(actions.newTask(input, caller)))),
    }),
    tool({
      name: 'task.list',
      about: 'Tasks, newest first, without their prompts, and the registered projects.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        limit: z.int().min(1).max(100_000).optional().describe('default 50'),
        status: z.enum(TASK_STATUSES).optional(),
        ids: ids.meta(unlisted),
        archived: z.boolean().optional().meta(unlisted),
        cursor: cursor.meta(unlisted),
      }),
      output: z.object({
        tasks: z.array(listedTask),
        projects: z.array(z.string()),
        more: z.int().optional(),
      }),
      say: ({ tasks: rows, projects, more = 0 }) =>
        [
          ...rows.map(sayTask),
          ...(rows.length === 0 ? ['no tasks'] : []),
          ...sayMore(more),
          ...(projects.length === 0 ? [] : [`projects: ${projects.join(', ')}`]),
        ].join('\n'),
      run(wanted, { ownWork }) {
        const filter = ownWork == null ? wanted : { ...wanted, ids: [ownWork.taskId] };
        const isPart = filter.ids !== undefined || filter.cursor !== undefined;
        const listed = tasks.list(isPart ? filter : { limit: 50, ...filter });
        // The newest decision of a task is the only one that can be open.
        const asked = listed.flatMap((task) => task.decisionId ?? []);
        const waiting = new Set(
          decisions.list({ state: 'pending', ids: asked }).map((decision) => decision.taskId),
        );
        const rows = listed.map(
          ({ acceptanceCriteria: _criteria, ...task }): ListedTask => ({
            ...task,
            waits: waiting.has(task.taskId),
          }),
        );
        return {
          tasks: toWire(rows),
          projects: ownWork == null ? [...agents.listNames().projects] : [],
          more: isPart ? undefined : tasks.count(filter.status, filter.archived) - rows.length,
        };
      },
    }),
    operation({
      name: 'task.count',
      about: 'The number of tasks, in all or in one status.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({ status: z.enum(TASK_STATUSES).optional(), archived: z.boolean().optional() }),
      run: ({ status, archived }) => tasks.count(status, archived),
    }),
    operation({
      name: 'task.show',
      about: 'One task with its decision, sessions and the newest events of its timeline.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ id }),
      run(input, caller) {
        const task = tasks.resolve(input.id);
        checkOwnTask(caller, task.taskId, task.taskId);
        return {
          task,
          decision: task.decisionId === null ? null : decisions.get(task.decisionId),
          sessions: sessions.ofTask(task.taskId),
          race: deps.races.ofTask(task.taskId),
          timeline: deps.events.listOfTask(task.taskId),
          timelineTotal: deps.events.countOfTask(task.taskId),
        };
      },
    }),
    operation({
      name: 'task.choices',
      about: 'Agents, templates and projects that a new task may name.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({}),
      run: (_, caller): TaskChoices => ({
        agents: agents.withOverrides(agentOverrides(caller)).listAgents(),
        defaultAgent: agents.withOverrides(agentOverrides(caller)).findDefaultAgent(),
        templates: Object.entries(deps.templates()).map(([id, { agent = null, project = null }]) => ({
          id,
          agent,
          project,
        })),
        projects: agents.listProjects(),
      }),
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
      say: ({ task_id, agent }) => `${task_id} is assigned to ${agent}.`,
      run: (input, caller, call) =>
        call.finish(() => {
          agents.withOverrides(agentOverrides(caller)).findCommand(input.agent);
          return toWire(workflow.assign(findTaskId(input.id), input.agent, by(caller)));
        }),
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
        summary: z.string().optional().meta(unlisted),
      }),
      output: z.object({ task_id: z.string(), status: z.string() }),
      say: ({ task_id, status }) => `${task_id} is ${status}.`,
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
