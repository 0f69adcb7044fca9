import { type ProblemDetails, SvcError, toProblem } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import type { ProjectSetup } from '../workers/runner/setup/index.ts';
import { hashInputs, type RunInputs } from './decisions/inputs.ts';
import type { DispatchOptions } from './dispatch-options.ts';
import type { LedgerGate } from './ledger/index.ts';
import type { Task, Tasks } from './tasks/index.ts';

/** The effects of a dispatch that the dispatcher knows. */
export interface RunPlan {
  /** The task's agent, otherwise the default one; null if there is none. */
  agent: string | null;
  /** The configured command, with its placeholders not filled in. */
  command: string | null;
  /** For a race: every agent with its command, a session each; fields about one agent describe the first. Null otherwise. */
  race: { agent: string; command: string | null }[] | null;
  transport: 'subprocess' | 'acp' | null;
  auth: 'account' | 'gateway' | null;
  /** The variable whose key the agent uses instead of the existing login, so that another account pays; null for none. */
  keyBeforeLogin: string | null;
  /** The guard profile that it would run under. */
  profile: string;
  /** The agent's circuit is open until then, because its runs kept failing. */
  heldBack: { until: string; code: string; text: string } | null;
  project: string | null;
  /** Absolute. */
  folder: string | null;
  inplace: false;
  /** The session whose worktree and conversation it continues, with its branch; null for a new worktree. */
  continues: { sessionId: string; branch: string | null } | null;
  /** The setup of its worktree, once agreed to; null for an unknown project. */
  carries: ProjectSetup | null;
  /** Top folder of the checkout. */
  repository: string | null;
  /** The branch, or with a detached HEAD the commit, that the worktree would be created from. */
  base: string | null;
  /** The current commit of `base`; the branch may move before the run starts. */
  baseCommit: string | null;
  /** The start of the session's branch name; the rest is the session id, which does not exist yet. */
  branchPrefix: string;
  timeoutSec: number;
  /** 0 for none. */
  idleTimeoutSec: number;
  workers: { running: number; queued: number; cap: number };
  /** The pool of machines that it may run on; null for this machine. */
  pool: string | null;
  /** The id of the one machine that it may run on; null for any of the pool. */
  runner: string | null;
  /** Why no machine of the pool takes it now, a clause; null if one does, and for this machine. */
  waitsFor: string | null;
  /** See `Task.waitsFor`. */
  waitsForTask: string | null;
  starts: 'now' | 'queued';
  /** The first problem that would prevent it. */
  problem: ProblemDetails | null;
}

/** The current effects of a run (a retry, for a failed task), so that a person sees them before agreeing. */
export interface TaskPlan extends RunPlan {
  taskId: string;
  /** As in a decision; see `hashInputs`. A task without an agent is hashed with the agent that it would get. */
  hash: string;
}

/** The dispatcher's part of plans: it changes nothing, and returns a problem instead of throwing it. */
export interface RunPlanner {
  plan(task: Task, options: DispatchOptions): Promise<RunPlan>;
}

export interface RunPlans {
  of(task: Task, options: DispatchOptions): Promise<TaskPlan>;
  /** Throws `conflict` if a run of the task would no longer match the `hash` of its plan. */
  check(task: Task, hash: string | undefined, options: DispatchOptions): void;
}

export function createPlans({
  tasks,
  inputsOf,
  planner,
  gate,
}: {
  tasks: Tasks;
  inputsOf(task: Task, options: DispatchOptions): RunInputs;
  planner: RunPlanner;
  gate: LedgerGate;
}): RunPlans {
  const computeHash = (task: Task, options: DispatchOptions): string => hashInputs(inputsOf(task, options));

  /** A failed task would be retried, and an open one gets its agent with the run; neither is a problem. */
  function findStateProblem(task: Task): ProblemDetails | null {
    if (task.status === 'failed' || task.status === 'open') return null;
    try {
      tasks.checkDispatchable(task.taskId);
      return null;
    } catch (error) {
      return toProblem(error);
    }
  }

  function findGateProblem(task: Task, { force }: Pick<DispatchOptions, 'force'>): ProblemDetails | null {
    const held = force === true ? null : gate(task);
    return held === null ? null : toProblem(held);
  }

  return {
    async of(task, options) {
      const plan = await planner.plan(task, options);
      return {
        taskId: task.taskId,
        hash: computeHash(task, options),
        ...plan,
        problem: findStateProblem(task) ?? findGateProblem(task, options) ?? plan.problem,
      };
    },
    check(task, hash, options) {
      if (hash === undefined || hash === computeHash(task, options)) return;
      throw new SvcError('conflict', `${task.taskId} has changed since you looked at it`, {
        hint: sentence`{task.show ${task.taskId}}`,
      });
    },
  };
}
