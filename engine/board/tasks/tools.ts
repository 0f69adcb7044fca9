import { z } from 'zod';
import type { Session, Sessions } from '../../bus/sessions/index.ts';
import { SvcError } from '../../errors.ts';
import {
  actorDenied,
  type By,
  by,
  type Call,
  type Caller,
  checkLocalActor,
  mayAct,
  type Operation,
} from '../../operation.ts';
import { tool } from '../../tool.ts';
import type { BoardOperationsDeps } from '../deps.ts';
import { dispatchInput, optionsOf } from '../input.ts';
import { checkNotReplaced, type Submitted } from '../workflow/index.ts';
import { TASK_STATUSES, type Task, type TaskSummary } from './index.ts';

const dispatching = {
  actor: z.string().min(1).optional().describe('who acts, for records; default: you'),
  force: z.boolean().optional().describe('pass the ledger gate; recorded'),
  inplace: z.boolean().optional().describe('work in the project’s folder instead of a new worktree'),
  keep_worktree: z.boolean().optional().describe('keep the worktree after a promotion'),
  name: dispatchInput.name.describe('stable worker id; the same name is the same worker again'),
  session: z.string().min(1).optional().describe('parent session; default: yours'),
  timeout_sec: dispatchInput.timeout_sec.describe('hard limit of the run'),
  wait: z
    .boolean()
    .optional()
    .describe('wait for the end; default false: the verdict comes as a handoff message'),
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

const counted = (count: number | null, what: string): string =>
  `${count ?? 0} ${what}${count === 1 ? '' : 's'}`;

/** What came of it, and what its reader does next. */
function sayEnded(sessionId: string, verdict: Verdict): string {
  const { sealed, reason, commits, files, branch, verification } = verdict;
  const made = `${counted(commits, 'commit')}, ${counted(files, 'file')}${branch === null ? '' : ` on ${branch}`}, evidence: ${verification}`;
  return sealed
    ? `${sessionId} ended well: ${made}. Look at verify_status, then worktree_promote.`
    : `${sessionId} failed: ${reason}. ${made}. task_run tries it again.`;
}

/** The board's tools for agents: what the Chair plans and starts, and what every seat may see. */
export function taskTools(deps: BoardOperationsDeps): Operation[] {
  const { storage, tasks, sessions, workflow, agents, actions } = deps;

  function who(input: { actor?: string | undefined }, caller: Caller): By {
    if (caller.seat !== 'chair') return by(caller);
    if (input.actor !== undefined) checkLocalActor(input.actor);
    if (input.actor !== undefined && !mayAct(deps.policy(), input.actor)) throw actorDenied(input.actor);
    return { ...by(caller), actor: input.actor ?? caller.actor };
  }

  const options = (input: z.infer<z.ZodObject<typeof dispatching>>, caller: Caller, call: Call) => ({
    ...optionsOf(input, caller, call),
    ...(input.session === undefined ? {} : { parent: input.session }),
  });

  const answer = async (submitted: Submitted, wait: boolean | undefined, call: Call) => {
    const { task, session } = checkNotReplaced(submitted);
    const { sessionId, workerId } = session as Session;
    const ended = wait === true ? await ending(deps, sessionId, call) : null;
    return {
      task_id: task.taskId,
      session_id: sessionId,
      worker_id: workerId,
      status: tasks.get(task.taskId).status,
      verdict: ended === null ? null : verdictOf(ended, deps.verificationOf(ended)),
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
        agent: z.string().min(1).describe('preset that does the work, e.g. claude'),
        prompt: z.string().min(1).max(4_000_000).describe('what to do, whole: the worker knows nothing else'),
        project: z.string().optional().describe('registered project; default: yours'),
        title: z.string().trim().min(1).max(500).optional().describe('default: first line of the prompt'),
        ...dispatching,
      }),
      output: dispatched,
      say: sayDispatched,
      async run(input, caller, call) {
        const submitted = await storage.write(() => {
          const known = call.key === null ? null : tasks.byCall(call.key);
          const { agent, prompt, title, project } = input;
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
        agent: z.string().min(1).optional().describe('preset that shall do it'),
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
        agent: z.string().min(1).describe('preset, e.g. claude'),
        id: z.string().min(1).describe('task, e.g. t-42'),
      }),
      output: z.object({ task_id: z.string(), status: z.string(), agent: z.string().nullable() }),
      say: ({ task_id, agent }) => `${task_id} is assigned to ${agent}.`,
      run(input, caller, { key }) {
        agents.command(input.agent);
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
        project: z.string().optional().describe('run it in this registered project'),
        ...dispatching,
      }),
      output: dispatched,
      say: sayDispatched,
      async run(input, caller, call) {
        const submitted = await storage.write(() => {
          const { taskId, project, status } = tasks.resolve(input.id);
          const isMade = call.key !== null && sessions.byCall(call.key) !== null;
          if (status === 'failed' && !isMade) workflow.retry(taskId, who(input, caller));
          if (input.project !== undefined && !isMade) {
            agents.folder(input.project);
            if (input.project !== project) workflow.move(taskId, input.project, who(input, caller));
          }
          return actions.run(taskId, options(input, caller, call), who(input, caller));
        });
        return answer(submitted, input.wait, call);
      },
    }),
    tool({
      name: 'task_list',
      about: 'Tasks, newest first.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        limit: z.int().min(1).max(1000).optional().describe('default 50'),
        status: z.enum(TASK_STATUSES).optional(),
      }),
      output: z.object({ tasks: z.array(z.looseObject({})) }),
      run: ({ limit = 50, status }) => ({ tasks: tasks.list({ limit, status }).map(row) }),
    }),
    tool({
      name: 'task_done',
      about:
        'Mark a task done or failed. A worker marks its own task, and reports evidence with verify_report first.',
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
            found.status === status ? found : workflow.done(found.taskId, status, null, by(caller));
          return { task_id: task.taskId, status: task.status };
        });
      },
    }),
  ];
}

/** A worker speaks for its own task only. */
export function checkOwn(task: Task, caller: Caller): void {
  if (caller.seat !== 'chair' && (task.sessionId === null || task.sessionId !== caller.sessionId)) {
    throw new SvcError('chair_only', `${task.taskId} is not the task of this session`);
  }
}

const row = (task: TaskSummary): Record<string, unknown> => ({
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

const verdictOf = (session: Session, verification: string) => ({
  sealed: session.failure === null,
  reason: session.failure?.text ?? null,
  exit_code: session.exitCode,
  branch: session.branch,
  commits: session.commits,
  files: session.files,
  insertions: session.insertions,
  deletions: session.deletions,
  verification,
});

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
