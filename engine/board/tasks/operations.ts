import { z } from 'zod';
import type { AgentChoice, ProjectChoice } from '../../agents/index.ts';
import { by, type Caller, operation } from '../../api/operation.ts';
import type { BoardOperationsDeps } from '../deps.ts';
import {
  agentOverrides,
  body,
  dispatchInput,
  hash,
  id,
  ids,
  limit,
  optionsOf,
  plannedOptions,
  priority,
  timeout,
} from '../input.ts';
import { checkNotReplaced, type Submitted } from '../workflow/index.ts';
import { TASK_STATUSES, type Task, type TaskSummary } from './index.ts';
import { checkOwn, speakerOf } from './tools.ts';

/** A task in a list: a board of ten thousand stays small on the wire. */
export interface ListedTask extends Omit<TaskSummary, 'acceptanceCriteria'> {
  /** A decision of it is pending. */
  waits: boolean;
}

/** What a new task may name. */
export interface TaskChoices {
  agents: AgentChoice[];
  /** What a task without an agent runs with; null for none. */
  defaultAgent: string | null;
  templates: { id: string; agent: string | null; project: string | null }[];
  /** The workspace's own first. */
  projects: ProjectChoice[];
}

/** What clients may ask about tasks. */
export function taskOperations(deps: BoardOperationsDeps) {
  const { storage, tasks, decisions, sessions, workflow, plans, agents, actions } = deps;
  const find = (prefix: string) => tasks.resolve(prefix).taskId;
  /** What a run would be asked for without flags: as its open decision has it. */
  const planOptions = (task: Task, caller: Caller) => plannedOptions(decisions, task.taskId, caller);

  const addInput = z.strictObject({
    title: z.string().trim().min(1).max(500).optional(),
    body: body.optional(),
    agent: z.string().optional(),
    project: z.string().optional(),
    template: z.string().optional(),
    acceptance_criteria: z.array(z.string().min(1)).max(100).optional(),
    context: z.string().optional(),
    ledger: z.string().min(1).optional(),
    timeout_sec: timeout,
    priority,
  });

  return [
    operation({
      name: 'task.add',
      about: 'Create a task; with an agent it is assigned, else open.',
      seat: 'chair',
      changes: true,
      input: addInput,
      run: (input, caller) => storage.write(() => tasks.create(actions.newTask(input, caller))),
    }),
    operation({
      name: 'task.list',
      about:
        'Tasks, newest first, without their prompts; `waits` when a decision is pending. `ids` names the wanted ones, `before` the task that a page begins after.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        status: z.enum(TASK_STATUSES).optional(),
        ids,
        before: id.optional(),
        limit,
      }),
      run(input) {
        const listed = tasks.list(input);
        // The newest decision of a task is the only one that can be open.
        const asked = listed.flatMap((task) => task.decisionId ?? []);
        const waiting = new Set(
          decisions.list({ state: 'pending', ids: asked }).map((decision) => decision.taskId),
        );
        return listed.map(
          ({ acceptanceCriteria: _criteria, ...task }): ListedTask => ({
            ...task,
            waits: waiting.has(task.taskId),
          }),
        );
      },
    }),
    operation({
      name: 'task.count',
      about: 'How many tasks there are, or how many of one status.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ status: z.enum(TASK_STATUSES).optional() }),
      run: ({ status }) => tasks.count(status),
    }),
    operation({
      name: 'task.show',
      about: 'One task with its decision, sessions and timeline, of which only the newest events are shown.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ id }),
      run(input) {
        const task = tasks.resolve(input.id);
        return {
          task,
          decision: task.decisionId === null ? null : decisions.get(task.decisionId),
          sessions: sessions.ofTask(task.taskId),
          timeline: deps.events.listOfTask(task.taskId),
          timelineTotal: deps.events.countOfTask(task.taskId),
        };
      },
    }),
    operation({
      name: 'task.choices',
      about: 'What a new task may name: agents, templates, projects.',
      seat: 'any',
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
    operation({
      name: 'task.plan',
      about: 'What a run of the task would do now; `problem` says what is in its way.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ id }),
      run(input, caller) {
        const task = tasks.resolve(input.id);
        return plans.of(task, planOptions(task, caller));
      },
    }),
    operation({
      name: 'task.run',
      about: 'Dispatch a task; doing so is its approval. With `hash`, only if it still says what will run.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id, hash, ...dispatchInput }),
      run: async (input, caller) =>
        checkNotReplaced(
          await storage.write(() => {
            const task = tasks.resolve(input.id);
            plans.check(task, input.hash, planOptions(task, caller));
            return actions.run(task.taskId, optionsOf(input, caller), by(caller));
          }),
        ),
    }),
    operation({
      name: 'task.retry',
      about:
        'Put a failed task back to assigned, its history kept, and run it again unless held. With `hash`, only if it still says what will run.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id, hash, hold: z.boolean().optional(), ...dispatchInput }),
      run: async (input, caller) =>
        checkNotReplaced(
          await storage.write((): Submitted => {
            const failed = tasks.resolve(input.id);
            plans.check(failed, input.hash, planOptions(failed, caller));
            const task = workflow.retry(failed.taskId, by(caller));
            if (input.hold === true) return { task, decision: null, session: null };
            return actions.run(task.taskId, optionsOf(input, caller), by(caller));
          }),
        ),
    }),
    operation({
      name: 'task.assign',
      about: 'Give a task to an agent; an approval for another agent no longer holds.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id, agent: z.string().min(1) }),
      run(input, caller) {
        agents.withOverrides(agentOverrides(caller)).findCommand(input.agent);
        return storage.write(() => workflow.assign(find(input.id), input.agent, by(caller)));
      },
    }),
    operation({
      name: 'task.cancel',
      about: 'Stop a task: its worker is ended, its work so far is kept on its branch.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id }),
      run: (input, caller) => storage.write(() => workflow.cancel(find(input.id), by(caller))),
    }),
    operation({
      name: 'task.done',
      about:
        'Mark a task done or failed; of one that is worked on only its own worker may, and the end of its run decides.',
      seat: 'any',
      changes: true,
      input: z.strictObject({
        id,
        status: z.enum(['done', 'failed']).optional(),
        summary: z.string().optional(),
      }),
      run: (input, caller) =>
        storage.write(() => {
          const task = tasks.resolve(input.id);
          checkOwn(task, caller);
          const { status = 'done', summary = null } = input;
          return workflow.done(task.taskId, { status, summary, speaker: speakerOf(caller) }, by(caller));
        }),
    }),
  ];
}
