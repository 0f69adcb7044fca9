import { z } from 'zod';
import {
  actorDenied,
  type By,
  by,
  type Call,
  type Caller,
  checkLocalActor,
  mayAct,
} from '../../api/operation.ts';
import { sayMore, tool } from '../../api/tool.ts';
import { SvcError } from '../../base/errors.ts';
import { formatCount, toPrintable } from '../../base/text.ts';
import {
  isOwnSeat,
  type NextStep,
  outcomeOfSession,
  projectOfAddress,
  type Session,
  type Sessions,
} from '../../sessions/index.ts';
import type { BoardOperationsDeps } from '../deps.ts';
import { agentOverrides, dispatchInput, optionsOf } from '../input.ts';
import { checkNotReplaced, type Submitted } from '../workflow/index.ts';
import { TASK_STATUSES, type Task, type TaskSummary } from './index.ts';

const dispatching = {
  actor: z.string().min(1).optional().describe('who acts, for records; default: you'),
  force: z.boolean().optional().describe('pass the ledger gate; recorded'),
  inplace: z.boolean().optional().describe('in the project’s own folder, without a worktree'),
  keep_worktree: z.boolean().optional().describe('keep it after a promotion'),
  name: dispatchInput.name.describe('stable worker id over its sessions'),
  session: z.string().min(1).optional().describe('parent session; default: yours'),
  timeout_sec: dispatchInput.timeout_sec.describe('hard limit of the run'),
  wait: z.boolean().optional().describe('wait for the end; default false'),
};

const dispatched = z.object({
  task_id: z.string(),
  session_id: z.string(),
  worker_id: z.string(),
  status: z.string(),
  verdict: z.looseObject({}).nullable(),
});

const sayDispatched = (result: z.output<typeof dispatched>): string =>
  result.verdict === null
    ? `${result.task_id} is dispatched as ${result.session_id} (worker ${result.worker_id}). Its verdict comes as a handoff message: msg_inbox.`
    : sayEnded(result.session_id, result.verdict as unknown as Verdict);

type Verdict = ReturnType<typeof verdictOf>;

const countedIfRead = (count: number | null, what: string): string =>
  count === null ? `its ${what}s could not be read` : formatCount(count, what);

const STEPS: Readonly<Record<NextStep, string>> = {
  read_log: 'svc worker log has what it printed',
  look_at_branch: 'look at the branch and at verify_status',
  look_at_folder: "look at the changes in the project's folder",
  find_work: 'look at worktree_status: what it left could not be read',
  promote: 'worktree_promote',
  retry: 'task_run tries it again',
  decide: 'its new decision has to be approved',
};

/** What came of it, and what its reader does next. */
function sayEnded(sessionId: string, verdict: Verdict): string {
  const { reason, commits, files, branch, verification, contradiction, next } = verdict;
  const made = `${countedIfRead(commits, 'commit')}, ${countedIfRead(files, 'file')}${branch === null ? '' : ` on ${branch}`}, evidence: ${verification}`;
  const steps = next.map((step) => STEPS[step]).join(', then ');
  return [
    reason === null
      ? `${sessionId} ended well`
      : `${sessionId} failed: ${reason}${contradiction === null ? '' : ` (${contradiction})`}`,
    made,
    steps === '' ? 'Nothing is left to do' : `Next: ${steps}`,
    '',
  ]
    .join('. ')
    .trimEnd();
}

/** The board's tools for agents: what the Chair plans and starts, and what every seat may see. */
export function taskTools(deps: BoardOperationsDeps) {
  const { storage, tasks, sessions, workflow, agents, peers, actions } = deps;

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

  const options = (input: z.infer<z.ZodObject<typeof dispatching>>, caller: Caller, call: Call) => ({
    ...optionsOf(input, caller, call),
    ...(input.session === undefined ? {} : { parent: parentOf(input.session, caller) }),
  });

  const answer = async (submitted: Submitted, wait: boolean | undefined, call: Call) => {
    const { task, session } = checkNotReplaced(submitted);
    const { sessionId, workerId } = session as Session;
    const ended = wait === true ? await ending(deps, sessionId, call) : null;
    const now = tasks.get(task.taskId);
    return {
      task_id: task.taskId,
      session_id: sessionId,
      worker_id: workerId,
      status: now.status,
      verdict:
        ended === null
          ? null
          : verdictOf(
              ended,
              deps.verificationOf(ended),
              now.status === 'failed' && now.sessionId === sessionId,
            ),
    };
  };

  return [
    tool({
      name: 'dispatch_worker',
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
        const submitted = await storage.write(() => {
          const known = call.key === null ? null : tasks.byCall(call.key);
          const { agent, prompt, title, project } = input;
          if (known === null)
            agents.withOverrides(agentOverrides(caller)).checkInstalled(agent, project ?? caller.project);
          const task =
            known ??
            tasks.create({
              ...actions.newTask({ agent, body: prompt, title, project }, caller),
              actor: who(input, caller).actor,
              callKey: call.key,
            });
          return actions.run(task.taskId, options(input, caller, call), who(input, caller));
        });
        return answer(submitted, input.wait, call);
      },
    }),
    tool({
      name: 'task_add',
      about:
        'Create a task without starting it. With an agent it is assigned and can be run, else it is open.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        title: z.string().trim().min(1).max(500).describe('one line'),
        acceptance_criteria: z
          .array(z.string().min(1))
          .max(100)
          .optional()
          .describe('each is shown to the worker and reported met or not met'),
        agent: z.string().min(1).optional().meta({ description: 'preset that shall do it', names: 'agents' }),
        body: z.string().max(4_000_000).optional().describe('what to do; default: the title'),
        context: z.string().max(1_000_000).optional().describe('what the worker should know beside it'),
        ledger: z
          .string()
          .min(1)
          .optional()
          .describe('Markdown checklist; while its ## Clarify has open items, it is not run'),
      }),
      output: z.object({ task_id: z.string(), status: z.string(), agent: z.string().nullable() }),
      say: ({ task_id, status, agent }) => `${task_id} is ${status}${agent === null ? '' : ` to ${agent}`}.`,
      async run(input, caller, call) {
        const task = await storage.write(() => {
          const known = call.key === null ? null : tasks.byCall(call.key);
          return known ?? tasks.create({ ...actions.newTask(input, caller), callKey: call.key });
        });
        return { task_id: task.taskId, status: task.status, agent: task.agent };
      },
    }),
    tool({
      name: 'task_assign',
      about: 'Assign a task to an agent; an approval for another agent no longer holds.',
      seat: 'chair',
      changes: true,
      idempotent: true,
      input: z.strictObject({
        agent: z.string().min(1).meta({ description: 'preset', names: 'agents' }),
        id: z.string().min(1).describe('task, e.g. t-42'),
      }),
      output: z.object({ task_id: z.string(), status: z.string(), agent: z.string().nullable() }),
      say: ({ task_id, agent }) => `${task_id} is assigned to ${agent}.`,
      run(input, caller, { key }) {
        agents.withOverrides(agentOverrides(caller)).findCommand(input.agent);
        return storage.once('task_assign', key, () => {
          const task = workflow.assign(tasks.resolve(input.id).taskId, input.agent, by(caller));
          return { task_id: task.taskId, status: task.status, agent: task.agent };
        });
      },
    }),
    tool({
      name: 'task_run',
      about:
        'Start a worker on a task, which approves it. Refused while its ledger has open questions. Returns at once; the verdict comes as a handoff message.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        id: z.string().min(1).describe('task, e.g. t-42; a failed one is tried again'),
        project: z
          .string()
          .optional()
          .meta({ description: 'run it in this registered project', names: 'projects' }),
        ...dispatching,
      }),
      output: dispatched,
      say: sayDispatched,
      async run(input, caller, call) {
        const submitted = await storage.write(() => {
          const { taskId, project, status, agent } = tasks.resolve(input.id);
          const isMade = call.key !== null && sessions.byCall(call.key) !== null;
          if (agent !== null && !isMade) agents.checkInstalled(agent, input.project ?? project);
          if (status === 'failed' && !isMade) workflow.retry(taskId, who(input, caller));
          if (input.project !== undefined && !isMade) {
            agents.resolveFolder(input.project);
            if (input.project !== project) workflow.move(taskId, input.project, who(input, caller));
          }
          return actions.run(taskId, options(input, caller, call), who(input, caller));
        });
        return answer(submitted, input.wait, call);
      },
    }),
    tool({
      name: 'task_list',
      about: 'Tasks, newest first, and the registered projects.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        limit: z.int().min(1).max(1000).optional().describe('default 50'),
        status: z.enum(TASK_STATUSES).optional(),
      }),
      output: z.object({ tasks: z.array(z.looseObject({})), projects: z.array(z.string()), more: z.int() }),
      say: ({ tasks: rows, projects, more }) =>
        [
          ...rows.map((each) => sayTask(each as ReturnType<typeof row>)),
          ...(rows.length === 0 ? ['no tasks'] : []),
          ...sayMore(more),
          ...(projects.length === 0 ? [] : [`projects: ${projects.join(', ')}`]),
        ].join('\n'),
      run({ limit = 50, status }) {
        const listed = tasks.list({ limit, status }).map(row);
        return {
          tasks: listed,
          projects: agents.listNames().projects,
          more: tasks.count(status) - listed.length,
        };
      },
    }),
    tool({
      name: 'task_done',
      about:
        'Mark a task done or failed. A worker marks its own, after verify_report; while it runs nobody else may.',
      seat: 'any',
      changes: true,
      idempotent: true,
      input: z.strictObject({
        id: z.string().min(1).describe('task, e.g. t-42'),
        status: z.enum(['done', 'failed']).optional().describe('default done'),
      }),
      output: z.object({ task_id: z.string(), status: z.string() }),
      say: ({ task_id, status }) => `${task_id} is ${status}.`,
      run({ id, status = 'done' }, caller, { key }) {
        return storage.once('task_done', key, () => {
          const found = tasks.resolve(id);
          checkOwn(found, caller);
          const task =
            found.status === status
              ? found
              : workflow.done(
                  found.taskId,
                  { status, summary: null, speaker: speakerOf(caller) },
                  by(caller),
                );
          return { task_id: task.taskId, status: task.status };
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

/** A line is enough to go on with; the rest is in the structured answer. */
const sayTask = ({ id, title, status, agent, project, session, failure }: ReturnType<typeof row>): string =>
  [
    `${id} ${status}`,
    ...(failure === null ? [] : [`(${failure})`]),
    ...[agent, session, project].filter((each) => each !== null),
    JSON.stringify(toPrintable(title)),
  ].join(' ');

const row = (task: TaskSummary) => ({
  id: task.taskId,
  title: task.title,
  status: task.status,
  agent: task.agent,
  project: task.project,
  session: task.sessionId,
  decision: task.decisionId,
  attempt: task.attempt,
  acceptance_criteria: task.acceptanceCriteria.length,
  ledger: task.ledger,
  failure: task.failure?.code ?? null,
  ...(task.resumeAt === null ? {} : { resume_at: task.resumeAt }),
  created_at: task.createdAt,
  ended_at: task.endedAt,
});

const verdictOf = (session: Session, verification: string, mayRetry: boolean) => ({
  sealed: session.failure === null,
  ...nextAfter(session, mayRetry),
  reason: session.failure?.text ?? null,
  exit_code: session.exitCode,
  branch: session.branch,
  commits: session.commits,
  files: session.files,
  insertions: session.insertions,
  deletions: session.deletions,
  verification,
});

const nextAfter = (session: Session, mayRetry: boolean) => {
  const { contradiction, next } = outcomeOfSession(session, { mayRetry });
  return { contradiction, next };
};

/** The session when it has ended. Giving up the wait leaves the worker as it is. */
function ending(
  { storage, sessions }: { storage: BoardOperationsDeps['storage']; sessions: Sessions },
  sessionId: string,
  { signal, progress }: Call,
): Promise<Session> {
  progress(`${sessionId} works; waiting for its end`);
  return new Promise((resolve, reject) => {
    const stopListening = storage.onCommit(look);
    signal.addEventListener('abort', giveUp, { once: true });
    function done(): void {
      stopListening();
      signal.removeEventListener('abort', giveUp);
    }
    function look(): void {
      const session = sessions.get(sessionId);
      if (session.state !== 'ended') return;
      done();
      resolve(session);
    }
    function giveUp(): void {
      done();
      reject(new SvcError('cancelled', `nobody waits for ${sessionId} any more; it goes on`));
    }
    if (signal.aborted) giveUp();
    else look();
  });
}
