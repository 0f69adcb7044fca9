import type { CallAuthor } from '../../core/api/operation.ts';
import type { SvcError } from '../../core/base/errors.ts';
import type { Session } from '../../workers/sessions/index.ts';
import type { Decision } from '../decisions/index.ts';
import type { RunSettings } from '../decisions/inputs.ts';
import type { DispatchOptions } from '../dispatch-options.ts';
import type { Task } from '../tasks/index.ts';

/** The dispatcher's interface for the workflow. */
export interface DispatchPort {
  /** Returns the settings that a run would have now. Changes nothing and starts no program. */
  settings(task: Task, options: DispatchOptions): RunSettings;
  /** Explains why the account has no room for a run of the task, or no lease for one; null if it has. */
  findLock(task: Task): SvcError | null;
  /** Throws `agent_not_found` if a program of the agent's command is not installed, and `gateway_unroutable`. */
  checkCommand(task: Task, options: DispatchOptions): void;
  /**
   * Queues a session that consumes `decision`, inside `storage.write`. Throws if agent or project is unknown.
   * @param race its race; null for none
   */
  enqueue(task: Task, decision: Decision, options: DispatchOptions, race: number | null): Session;
  /** Marks a live session as stopping, inside `storage.write`; its processes are stopped after the commit. */
  stop(sessionId: string, reason: 'cancelled', by: CallAuthor): void;
  /**
   * Like `stop`, but only for a session that waits to start or to resume. False for one that is starting or running.
   * Call inside `storage.write`.
   */
  drop(sessionId: string, by: CallAuthor): boolean;
  /** Records how a session's worker marked its task, inside `storage.write`. False once the session has ended. */
  recordOwnWord(sessionId: string, word: 'done' | 'failed'): boolean;
  /** Reports whether the session has not ended. */
  isLive(sessionId: string): boolean;
}

/** The result of a requested run. */
export interface SubmitResult {
  task: Task;
  decision: Decision | null;
  session: Session | null;
  /** All sessions of a race; left out otherwise. */
  sessions?: Session[];
  /** The decision whose approval had no effect: the inputs have changed, and `decision` replaces it. */
  replaced?: Decision;
}
