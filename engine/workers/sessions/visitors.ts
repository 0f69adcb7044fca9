import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { Sessions } from './registry.ts';

/** The process of a person who has entered a session. */
export interface SessionVisitor {
  sessionId: string;
  pid: number;
  /** Start time of that pid; the pair identifies one process. */
  pidStart: string;
}

/** Tracks which sessions a person has entered, as long as that process lives. */
export interface SessionVisitors {
  /** Lists sessions that a person is or may be in: a process that cannot be probed counts as alive. */
  listVisited(): Set<string>;
  /** Returns the visitor of a session; null for none. */
  findVisitor(sessionId: string): SessionVisitor | null;
  /** Explains why another person cannot work in a session with a visitor; null if there is none. */
  findVisitorConflict(sessionId: string): SvcError | null;
  /** Lists sessions whose visitor's process ended without leaving. */
  listGone(): SessionVisitor[];
  /** Reports whether the record still names this process. */
  isRecorded(visitor: SessionVisitor): boolean;
  /** Records that a process entered the session. Call inside `storage.write`. Throws `usage` for an unknown process. */
  enter(sessionId: string, pid: number): void;
  /** Records that the visitor has left the session. Call inside `storage.write`. */
  leave(sessionId: string): void;
}

export function createVisitors({
  sessions,
  processes,
}: {
  sessions: Pick<Sessions, 'attach' | 'attached'>;
  processes: {
    checkLiveness(pid: number, pidStart: string): 'alive' | 'dead' | 'unknown';
    readStartTime(pid: number): string | null;
  };
}): SessionVisitors {
  const isVisitorGone = ({ pid, pidStart }: SessionVisitor): boolean =>
    processes.checkLiveness(pid, pidStart) === 'dead';
  function findVisitor(sessionId: string): SessionVisitor | null {
    const found = sessions.attached().find((each) => each.sessionId === sessionId);
    return found === undefined || isVisitorGone(found) ? null : found;
  }

  return {
    listVisited: () =>
      new Set(
        sessions
          .attached()
          .filter((visitor) => !isVisitorGone(visitor))
          .map(({ sessionId }) => sessionId),
      ),
    findVisitor,
    findVisitorConflict(sessionId) {
      const visitor = findVisitor(sessionId);
      if (visitor === null) return null;
      return new SvcError('conflict', `a person is in ${sessionId} (process ${visitor.pid})`, {
        hint: sentence`leave it first: end the agent that {worker.attach} opened`,
      });
    },
    listGone: () => sessions.attached().filter(isVisitorGone),
    isRecorded: ({ sessionId, pid, pidStart }) =>
      sessions
        .attached()
        .some((each) => each.sessionId === sessionId && each.pid === pid && each.pidStart === pidStart),
    enter(sessionId, pid) {
      const pidStart = processes.readStartTime(pid);
      if (pidStart === null) throw new SvcError('usage', `there is no process ${pid}`);
      sessions.attach(sessionId, { pid, pidStart });
    },
    leave: (sessionId) => sessions.attach(sessionId, null),
  };
}
