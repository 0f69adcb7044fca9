import type { CallAuthor, OperationPolicy } from '../../core/api/operation.ts';
import type { Storage } from '../../storage/index.ts';
import type { Session } from '../../workers/sessions/index.ts';
import type { Decision, Decisions } from '../decisions/index.ts';
import type { InputChange, RunInputs } from '../decisions/inputs.ts';
import type { DispatchOptions } from '../dispatch-options.ts';
import type { LedgerGate } from '../ledger/index.ts';
import type { Races } from '../races/index.ts';
import type { NewTask, Task, Tasks } from '../tasks/index.ts';
import type { DispatchPort, SubmitResult } from './dispatch.ts';

/** The result of an edit, with the new pending decision. */
export interface EditResult {
  task: Task;
  decision: Decision;
  changed: boolean;
}

/**
 * Moves tasks through their states: created, approved, dispatched, cancelled, retried. Receiver, command line and
 * tools all use it, so there is one path on which a worker can start. Call everything inside `storage.write`.
 */
export interface Workflow {
  /**
   * Creates a task. Dispatches it if `dispatch` and `approved` are both set, otherwise leaves a decision (already
   * approved if only `dispatch` is not set). A task held by its ledger waits too.
   */
  submit(
    task: NewTask,
    wanted: { dispatch: boolean; approved: boolean; why: string; by: CallAuthor },
  ): SubmitResult;
  /** Runs a task for a person or the Chair, which approves it. Consumes the open decision, or creates one. */
  run(taskId: string, options: DispatchOptions, by: CallAuthor): SubmitResult;
  /** Leaves a pending decision for a run of the task with these options, replacing an open one. */
  hold(
    taskId: string,
    options: DispatchOptions,
    why: string,
    by: CallAuthor,
  ): SubmitResult & { decision: Decision };
  /**
   * Adds an agent to the race of a task, under the decision of that race, which then covers it; starts a race if none
   * is open. For a person or the Chair, which approves it.
   */
  join(taskId: string, agent: string, options: DispatchOptions, by: CallAuthor): SubmitResult;
  /** Approves and dispatches. Repeating it changes nothing and returns the same. */
  approve(
    decisionId: string,
    by: CallAuthor,
    options?: DispatchOptions,
  ): SubmitResult & { decision: Decision };
  /** Denies; the task fails with code `denied` and can be retried. */
  deny(decisionId: string, reason: string, by: CallAuthor): SubmitResult & { decision: Decision };
  /**
   * Replaces the prompt of a task that waits for the decision. The decision expires, since it was about another
   * prompt, and a new one replaces it. `changed: false` for the same prompt. Throws `already_decided`, `conflict`.
   */
  edit(decisionId: string, body: string, by: CallAuthor): EditResult;
  assign(taskId: string, agent: string, by: CallAuthor): Task;
  /** Moves a task to another project; an approval for the old one expires. */
  move(taskId: string, project: string | null, by: CallAuthor): Task;
  cancel(taskId: string, by: CallAuthor, why?: string | null): Task;
  /**
   * Marks a task as done or failed. A worker may mark its own task while it runs; the end of the run then decides. Throws
   * `conflict` for anyone else while it runs, and once it has ended.
   * @param speaker the session of the worker that marks it; null for anyone else
   */
  done(
    taskId: string,
    mark: { status: 'done' | 'failed'; summary: string | null; speaker: string | null },
    by: CallAuthor,
  ): Task;
  retry(taskId: string, by: CallAuthor): Task;
  /** Returns the current inputs of a run of the task. */
  inputsOf(task: Task, options: DispatchOptions): RunInputs;
  /** Lists the current differences from the inputs that a decision is bound to; with `racer` only for that agent of its race. */
  changesSince(decision: Pick<Decision, 'decisionId' | 'taskId'>, racer?: string): InputChange[];
  /**
   * Revokes the approval of a session that did not run the approved inputs, or would continue with others. A new
   * decision replaces it, which continues from the session's work.
   */
  loseApproval(session: Session, why: string, changes: readonly InputChange[]): Decision;
  /** A person allows a paused session to resume without the sandbox. Throws `conflict` for a task from an untrusted author. */
  approveOutside(session: Session): void;
}

/** The parts of the board that the workflow connects. */
export interface WorkflowDeps {
  storage: Pick<Storage, 'db'>;
  tasks: Tasks;
  decisions: Decisions;
  dispatch: DispatchPort;
  races: Races;
  /** Checks who may decide. Clients were checked already; requests from outside were not. */
  policy(): OperationPolicy;
  gate: LedgerGate;
  /** Appends to the event log. */
  record: (
    event: { kind: 'task_done' | 'failed'; taskId: string; data: Record<string, unknown> } & CallAuthor,
  ) => void;
}

/** Explains why a decision waits; an untrusted author comes first everywhere. */
export const explainHold = ({ stranger }: Task, why: string): string =>
  stranger === null ? why : `untrusted author: ${stranger}; ${why}`;
