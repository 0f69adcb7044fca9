import { type Problem, SvcError, toProblem } from '../base/errors.ts';
import { sentence } from '../base/sentence.ts';
import type { ProjectSetup } from '../runner/setup/index.ts';
import { hashOfInputs, type RunInputs } from './decisions/inputs.ts';
import type { DispatchOptions } from './dispatch-options.ts';
import type { LedgerGate } from './ledger/index.ts';
import type { Task, Tasks } from './tasks/index.ts';

/** What a dispatch would do, as far as the workers room knows. */
export interface RunPlan {
  /** The task's, or the one that runs when a task names none; null when there is none. */
  agent: string | null;
  /** The command as it is configured, its placeholders not filled in. */
  command: string | null;
  transport: 'subprocess' | 'acp' | null;
  auth: 'account' | 'gateway' | null;
  /** The guard profile that it would run under. */
  profile: string;
  /** The agent is given no work until then, because it failed again and again. */
  heldBack: { until: string; code: string; text: string } | null;
  project: string | null;
  /** Absolute. */
  folder: string | null;
  inplace: false;
  /** What would be run in its worktree and copied to it, if that is agreed to; null for an unknown project. */
  carries: ProjectSetup | null;
  /** Top folder of the checkout. */
  repository: string | null;
  /** The branch, or with a detached HEAD the commit, that the worktree would be made from. */
  base: string | null;
  /** Where that ends now; its branch may go on until the run starts. */
  baseCommit: string | null;
  /** What the session's branch begins with; the rest is the session's id, which does not exist yet. */
  branchPrefix: string;
  timeoutSec: number;
  /** 0 for none. */
  idleTimeoutSec: number;
  workers: { running: number; queued: number; cap: number };
  starts: 'now' | 'queued';
  /** The first thing in its way. */
  problem: Problem | null;
}

/** What a run (of a failed task: a retry) would do now, so that a person sees it before they agree to it. */
export interface TaskPlan extends RunPlan {
  taskId: string;
  /** As of a decision; see `hashOfInputs`. A task without an agent is counted with the one that it would get. */
  hash: string;
}

/** What the workers room offers for plans: looks, changes nothing, and tells a problem instead of throwing it. */
export interface Planner {
  plan(task: Task, options: DispatchOptions): Promise<RunPlan>;
}

export interface Plans {
  of(task: Task, options: DispatchOptions): Promise<TaskPlan>;
  /** Throws `conflict` when a run of the task would not be what its plan had as `hash`. */
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
  planner: Planner;
  gate: LedgerGate;
}): Plans {
  const hashNow = (task: Task, options: DispatchOptions): string => hashOfInputs(inputsOf(task, options));

  /** A failed task would be tried again, an open one gets its agent with the run. */
  function stateProblem(task: Task): Problem | null {
    if (task.status === 'failed' || task.status === 'open') return null;
    try {
      tasks.checkDispatchable(task.taskId);
      return null;
    } catch (error) {
      return toProblem(error);
    }
  }

  function gateProblem(task: Task, { force }: Pick<DispatchOptions, 'force'>): Problem | null {
    const held = force === true ? null : gate(task);
    return held === null ? null : toProblem(held);
  }

  return {
    async of(task, options) {
      const plan = await planner.plan(task, options);
      return {
        taskId: task.taskId,
        hash: hashNow(task, options),
        ...plan,
        problem: stateProblem(task) ?? gateProblem(task, options) ?? plan.problem,
      };
    },
    check(task, hash, options) {
      if (hash === undefined || hash === hashNow(task, options)) return;
      throw new SvcError('conflict', `${task.taskId} is not what you saw`, {
        hint: sentence`{task.show ${task.taskId}}`,
      });
    },
  };
}
