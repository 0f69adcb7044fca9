import { SvcError } from '../base/errors.ts';
import type { Sessions } from './registry.ts';

/** The process of a person who is in a session. */
export interface Visitor {
  sessionId: string;
  pid: number;
  /** Start time of that pid; the pair identifies one process. */
  pidStart: string;
}

/** Knows which sessions a person is in: as long as the process lives that went in. */
export interface Visitors {
  /** The sessions that somebody is in, or may be in: a process that cannot be looked at counts as living. */
  listVisited(): Set<string>;
  /** Who is in a session; null when nobody is. */
  findVisitor(sessionId: string): Visitor | null;
  /** Those whose process has ended without a word. */
  listGone(): Visitor[];
  /** Whether the record still names this process. */
  isRecorded(visitor: Visitor): boolean;
  /** Inside `storage.write`: that process is in the session now. Throws `usage` when there is no such process. */
  enter(sessionId: string, pid: number): void;
  /** Inside `storage.write`: nobody is in it any more. */
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
}): Visitors {
  const isGone = ({ pid, pidStart }: Visitor): boolean => processes.checkLiveness(pid, pidStart) === 'dead';
  return {
    listVisited: () =>
      new Set(
        sessions
          .attached()
          .filter((visitor) => !isGone(visitor))
          .map(({ sessionId }) => sessionId),
      ),
    findVisitor(sessionId) {
      const found = sessions.attached().find((each) => each.sessionId === sessionId);
      return found === undefined || isGone(found) ? null : found;
    },
    listGone: () => sessions.attached().filter(isGone),
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
