import { z } from 'zod';
import type { AgentChoice, ProjectChoice } from '../../agents/index.ts';
import {
  actorDenied,
  type By,
  by,
  type Call,
  type Caller,
  checkLocalActor,
  mayAct,
  operation,
  toWire,
} from '../../api/operation.ts';
import { sayMore, tool } from '../../api/tool.ts';
import { renderWords } from '../../api/words.ts';
import { SvcError } from '../../base/errors.ts';
import { sentence } from '../../base/sentence.ts';
import { toPrintable } from '../../base/text.ts';
import { isOwnSeat, projectOfAddress, type Session } from '../../sessions/index.ts';
import type { BoardOperationsDeps } from '../deps.ts';
import { agentOverrides, dispatchInput, readDispatchOptions, timeoutSec } from '../dispatch-options.ts';
import { body, hash, id, ids, plannedOptions, priority } from '../input.ts';
import { checkNotReplaced, type Submitted } from '../workflow/index.ts';
import { TASK_STATUSES, type Task, type TaskSummary } from './index.ts';
import { sayEnded, type Verdict, verdictOf, waitForEnd } from './verdict.ts';

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

/** Taken from clients and not offered to agents, who read every byte of the list at every start. */
const unlisted = { unlisted: true } as const;

const taskId = id.describe('task, e.g. t-42');

/** How a worker is to be started. */
const dispatching = {
  ...dispatchInput,
  actor: z.string().min(1).optional().describe('who acts, for records; default: you'),
  session: z.string().min(1).optional().describe('parent session; default: yours'),
  wait: z.boolean().optional().describe('wait for the end; default false'),
};

/** What agents are given of a task that was made or changed. */
const taskOutline = z.object({ task_id: z.string(), status: z.string(), agent: z.string().nullable() });

/** What agents are given of a dispatch. */
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
    : sayEnded(result.session_id, result.verdict as unknown as Verdict);

/** What agents are given of a task in a list. */
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

/** A line is enough to go on with; the rest is in the structured answer. */
const sayTask = (task: z.output<typeof listedTask>): string =>
  [
    `${task.task_id} ${task.status}`,
    ...(task.failure === null ? [] : [`(${String(task.failure.code)})`]),
    ...[task.agent, task.session_id, task.project].filter((each) => each !== null),
    JSON.stringify(toPrintable(task.title)),
  ].join(' ');

/** What clients may ask about tasks; agents are offered those that are tools. */
export function taskOperations(deps: BoardOperationsDeps) {
  const { tasks, decisions, sessions, workflow, plans, agents, peers, actions } = deps;
  const find = (prefix: string) => tasks.resolve(prefix).taskId;
  /** What a run would be asked for without flags: as its open decision has it. */
  const planOptions = (task: Task, caller: Caller) => plannedOptions(decisions, task.taskId, caller);

  function who(input: { actor?: string | undefined }, caller: Caller): By {
    if (caller.seat !== 'chair') return by(caller);
    if (input.actor !== undefined) checkLocalActor(input.actor);
    if (input.actor !== undefined && !mayAct(deps.policy(), input.actor)) throw actorDenied(input.actor);
    return { ...by(caller), actor: input.actor ?? caller.actor };
  }

  /** The session that gets the verdict. The seat of a Chair is nobody's parent, and has it anyway. */
  function parentOf(session: string, caller: Caller): string | undefined {
    if (isOwnSeat(session, caller)) return caller.sessionId ?? undefined;
    const project = projectOfAddress(session);
    if (project === undefined) return peers.known(session).sessionId;
    agents.resolveProjectId(project);
    return undefined;
  }

  /** Inside `storage.write`: a failed task is tried again, and one that is wanted elsewhere moves there. */
  function prepareRun(
    { taskId, project, status, agent }: Task,
    wanted: string | undefined,
    caller: Caller,
    actor: By,
  ): void {
    deps.requireConsent();
    if (agent !== null) agents.withOverrides(agentOverrides(caller)).checkInstalled(agent, wanted ?? project);
    if (status === 'failed') workflow.retry(taskId, actor);
    if (wanted === undefined || wanted === project) return;
    agents.resolveFolder(wanted);
    workflow.move(taskId, wanted, actor);
  }

  const options = (input: z.infer<z.ZodObject<typeof dispatching>>, caller: Caller) => ({
    ...readDispatchOptions(input, caller),
    ...(input.session === undefined ? {} : { parent: parentOf(input.session, caller) }),
  });

  async function answer(submitted: Submitted, wait: boolean | undefined, call: Call) {
    const { taskId } = checkNotReplaced(submitted).task;
    const { sessionId, workerId, decisionId } = submitted.session as Session;
    const ended = wait === true ? await waitForEnd(deps, sessionId, call) : null;
    // As they are now: after the wait, or after what an earlier call of the same key has begun.
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
        'Create a task and start one worker on it in its own git worktree. Returns at once; the verdict comes as a handoff message.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        agent: z.string().min(1).meta({ description: 'preset that does the work', names: 'agents' }),
        prompt: z.string().min(1).max(4_000_000).describe('what to do, whole: the worker knows nothing else'),
        project: z
          .string()
          .optional()
          .meta({ description: 'registered project; default: yours', names: 'projects' }),
        title: z.string().trim().min(1).max(500).optional().describe('default: first line of the prompt'),
        ...dispatching,
      }),
      output: dispatched,
      say: sayDispatched,
      async run(input, caller, call) {
        const submitted = await call.begin(() => {
          const { agent, prompt, title, project } = input;
          agents.withOverrides(agentOverrides(caller)).checkInstalled(agent, project ?? caller.project);
          const wanted = actions.newTask({ agent, body: prompt, title, project }, caller);
          const { taskId } = tasks.create({ ...wanted, actor: who(input, caller).actor });
          return actions.run(taskId, options(input, caller), who(input, caller));
        });
        return answer(submitted, input.wait, call);
      },
    }),
    tool({
      name: 'task.add',
      about:
        'Create a task without starting it. With an agent it is assigned and can be run, else it is open.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        title: z.string().trim().min(1).max(500).optional().describe('one line; default: that of the body'),
        acceptance_criteria: z
          .array(z.string().min(1))
          .max(100)
          .optional()
          .describe('each is shown to the worker and reported met or not met'),
        agent: z.string().min(1).optional().meta({ description: 'preset that shall do it', names: 'agents' }),
        body: body.optional().describe('what to do; default: the title'),
        context: z.string().max(1_000_000).optional().describe('what the worker should know beside it'),
        ledger: z
          .string()
          .min(1)
          .optional()
          .describe('Markdown checklist; while its ## Clarify has open items, it is not run'),
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
        /** The task that a page begins after. */
        before: id.optional().meta(unlisted),
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
      run(filter) {
        const isPart = filter.ids !== undefined || filter.before !== undefined;
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
          projects: [...agents.listNames().projects],
          more: isPart ? undefined : tasks.count(filter.status) - rows.length,
        };
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
    tool({
      name: 'task.run',
      about:
        'Start a worker on a task, which approves it. Refused while its ledger has open questions. Returns at once; the verdict comes as a handoff message.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        id: id.describe('task, e.g. t-42; a failed one is tried again'),
        project: z
          .string()
          .optional()
          .meta({ description: 'run it in this registered project', names: 'projects' }),
        /** Only if the task still says what will run. */
        hash: hash.meta(unlisted),
        ...dispatching,
      }),
      output: dispatched,
      say: sayDispatched,
      async run(input, caller, call) {
        const actor = who(input, caller);
        const submitted = await call.begin(() => {
          const task = tasks.resolve(input.id);
          plans.check(task, input.hash, planOptions(task, caller));
          prepareRun(task, input.project, caller, actor);
          return actions.run(task.taskId, options(input, caller), actor);
        });
        return answer(submitted, input.wait, call);
      },
    }),
    operation({
      name: 'task.retry',
      about:
        'Put a failed task back to assigned, its history kept, and run it again unless held. With `hash`, only if it still says what will run.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id, hash, hold: z.boolean().optional(), ...dispatchInput }),
      run: async (input, caller, call) =>
        checkNotReplaced(
          await call.begin((): Submitted => {
            const failed = tasks.resolve(input.id);
            plans.check(failed, input.hash, planOptions(failed, caller));
            const task = workflow.retry(failed.taskId, by(caller));
            if (input.hold === true) return { task, decision: null, session: null };
            return actions.run(task.taskId, readDispatchOptions(input, caller), by(caller));
          }),
        ),
    }),
    tool({
      name: 'task.assign',
      about: 'Assign a task to an agent; an approval for another agent no longer holds.',
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
          return toWire(workflow.assign(find(input.id), input.agent, by(caller)));
        }),
    }),
    operation({
      name: 'task.cancel',
      about: 'Stop a task: its worker is ended, its work so far is kept on its branch.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id }),
      run: (input, caller, call) => call.finish(() => workflow.cancel(find(input.id), by(caller))),
    }),
    tool({
      name: 'task.done',
      about:
        'Mark a task done or failed. A worker marks its own, after verify_report; while it runs nobody else may.',
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
          checkOwn(task, caller);
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

/** Who speaks as the worker of a task; null for a Chair. */
export const speakerOf = ({ seat, sessionId }: Caller): string | null =>
  seat === 'chair' ? null : sessionId;

/** A worker speaks for its own task only. */
export function checkOwn(task: Task, caller: Caller): void {
  if (caller.seat !== 'chair' && (task.sessionId === null || task.sessionId !== caller.sessionId)) {
    throw new SvcError('chair_only', `${task.taskId} is not the task of this session`);
  }
}
