import { z } from 'zod';
import { cursor } from '../../core/api/cursor.ts';
import { checkOwnTask, operation, toWire } from '../../core/api/operation.ts';
import { sayMore, tool, UNLISTED } from '../../core/api/tool.ts';
import { toPrintable } from '../../core/base/text.ts';
import type { AgentChoice, ProjectChoice } from '../../workers/agents/index.ts';
import { agentOverrides } from '../dispatch-options.ts';
import { id, ids } from '../input.ts';
import { TASK_STATUSES } from '../tasks/index.ts';
import type { BoardOperationsDeps } from './deps.ts';

/** The choices for a new task. */
export interface TaskChoices {
  agents: AgentChoice[];
  /** The agent of a task without one; null for none. */
  defaultAgent: string | null;
  templates: { id: string; agent: string | null; project: string | null }[];
  /** The workspace's own first. */
  projects: ProjectChoice[];
}

/** The output for agents about a task in a list. */
const listedTask = z
  .object({
    id: z.string(),
    title: z.string(),
    status: z.string(),
    agent: z.string().nullable(),
    project: z.string().nullable(),
    session: z.string().nullable(),
    decision_id: z.string().nullable(),
    waits: z.boolean(),
    attempt: z.int(),
    ledger: z.string().nullable(),
    failure: z.looseObject({}).nullable(),
    resume_at: z.string().nullable(),
    created_at: z.string(),
    ended_at: z.string().nullable(),
  })
  .meta(UNLISTED);

/** One line is enough; the rest is in the structured answer. */
const sayTask = (task: z.output<typeof listedTask>): string =>
  [
    `${task.id} ${task.status}`,
    ...(task.failure === null ? [] : [`(${String(task.failure.code)})`]),
    ...[task.agent, task.session, task.project].filter((each) => each !== null),
    JSON.stringify(toPrintable(task.title)),
  ].join(' ');

/** Operations that list and show tasks; agents are offered the ones that are tools. */
export const taskListOperations = (deps: BoardOperationsDeps) => {
  const { tasks, decisions, sessions, agents } = deps;
  return [
    tool({
      name: 'task.list',
      about: 'Tasks, newest first, without their prompts, and the registered projects.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        limit: z.int().min(1).max(100_000).optional().describe('default 50'),
        status: z.enum(TASK_STATUSES).optional(),
        ids: ids.meta(UNLISTED),
        archived: z.boolean().optional().meta(UNLISTED),
        cursor: cursor.meta(UNLISTED),
      }),
      output: z.object({
        tasks: z.array(listedTask),
        projects: z.array(z.string()),
        more: z.int().optional(),
      }),
      names: { task_id: 'id', session_id: 'session' },
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
        const { limit = 50 } = filter;
        const rows = tasks.list(isPart ? filter : { ...filter, limit });
        const isCut = !isPart && rows.length === limit;
        return {
          tasks: toWire(rows),
          projects: ownWork == null ? agents.listProjectIds() : [],
          more: isPart ? undefined : isCut ? tasks.count(filter.status, filter.archived) - rows.length : 0,
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
  ];
};
