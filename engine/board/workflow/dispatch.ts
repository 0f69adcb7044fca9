import type { By } from '../../core/api/operation.ts';
import type { SvcError } from '../../core/base/errors.ts';
import type { Session } from '../../workers/sessions/index.ts';
import type { Decision } from '../decisions/index.ts';
import type { RunSettings } from '../decisions/inputs.ts';
import type { DispatchOptions } from '../dispatch-options.ts';
import type { Task } from '../tasks/index.ts';

/** What the dispatcher offers to the workflow. */
export interface Dispatch {
  /** The settings that a run would have now. Changes nothing and starts no program. */
  settings(task: Task, options: DispatchOptions): RunSettings;
  /** Why the account has no room for a run of the task, or no lease for one; null when it has. */
  findLock(task: Task): SvcError | null;
  /** Throws `agent_not_found` when a program of the agent's command is not installed, and `gateway_unroutable`. */
  checkCommand(task: Task, options: DispatchOptions): void;
  /**
   * Queues a session that consumes `decision`, inside `storage.write`. Throws when agent or project is unknown.
   * @param race the race that it takes part in; null for none
   */
  enqueue(task: Task, decision: Decision, options: DispatchOptions, race: number | null): Session;
  /** Marks a live session as stopping, inside `storage.write`; its processes are stopped after the commit. */
  stop(sessionId: string, reason: 'cancelled', by: By): void;
  /**
   * As `stop`, but only for a session that waits to start or to resume. False for one that is starting or running. Call
   * inside `storage.write`.
   */
  drop(sessionId: string, by: By): boolean;
  /** Records how a session's worker marked its task, inside `storage.write`. False once the session has ended. */
  recordOwnWord(sessionId: string, word: 'done' | 'failed'): boolean;
  /** Whether the session has not ended. */
  isLive(sessionId: string): boolean;
}

/** What became of something that was to run. */
export interface Submitted {
  task: Task;
  decision: Decision | null;
  session: Session | null;
  /** All those of a race; left out of any other. */
  sessions?: Session[];
  /** The decision that was approved in vain: what would run has changed, and `decision` waits in its place. */
  replaced?: Decision;
}
