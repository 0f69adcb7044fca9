import { asWorkerSession } from '../../core/base/ids.ts';
import type { Sessions } from './registry.ts';
import type { Session } from './rows.ts';
import type { SeatRegistry, SeatSession } from './seats/index.ts';
import { unknownSession } from './session-names.ts';

/** A session of any kind, as other sessions see it. */
export interface SessionPeer {
  /** `s-12`, `chair-3`, or a plain session's name. */
  sessionId: string;
  seat: 'chair' | 'worker' | 'plain';
  state: 'live' | 'ended';
  agent: string | null;
  /** The registered project; null for the workspace's own. */
  project: string | null;
  /** Stable over a worker's successive sessions. */
  workerId: string | null;
  taskId: string | null;
  title: string | null;
  /** The session that dispatched it. */
  parent: string | null;
  notifyBase: string | null;
  since: string;
  /** Time of its last call; for a worker, of its start. */
  seenAt: string;
}

/** The roster of worker sessions and seats. */
export interface SessionPeers {
  /** Finds a session; null if that id never existed. */
  find(sessionId: string): SessionPeer | null;
  /** Like `find`. Throws `not_found`, naming the live sessions. */
  known(sessionId: string): SessionPeer;
  /** Lists live sessions: Chairs, then plain sessions, then workers. */
  live(): SessionPeer[];
  /** Finds the newest session of a worker, live ones first; null for an unknown worker. */
  ofWorker(workerId: string): SessionPeer | null;
  /** Finds the most recently active live Chair of a project; null if there is none. */
  chairOf(project: string | null): SessionPeer | null;
}

const ofSession = (session: Session): SessionPeer => ({
  sessionId: session.sessionId,
  seat: 'worker',
  state: session.state === 'ended' ? 'ended' : 'live',
  agent: session.agent,
  project: session.project,
  workerId: session.workerId,
  taskId: session.taskId,
  title: session.title,
  parent: session.parent,
  notifyBase: null,
  since: session.startedAt ?? session.createdAt,
  seenAt: session.startedAt ?? session.createdAt,
});

const ofSeat = (seat: SeatSession): SessionPeer => ({
  sessionId: seat.sessionId,
  seat: seat.kind,
  state: seat.closedAt === null ? 'live' : 'ended',
  agent: seat.agent,
  project: seat.project,
  workerId: null,
  taskId: null,
  title: seat.title,
  parent: null,
  notifyBase: seat.notifyBase,
  since: seat.openedAt,
  seenAt: seat.seenAt,
});

export function createPeers({ sessions, seats }: { sessions: Sessions; seats: SeatRegistry }): SessionPeers {
  function findPeer(sessionId: string): SessionPeer | null {
    if (asWorkerSession(sessionId) === null) {
      const seat = seats.find(sessionId);
      return seat === null ? null : ofSeat(seat);
    }
    const [session] = sessions.list({ ids: [sessionId] });
    return session === undefined ? null : ofSession(session);
  }

  const listLivePeers = (): SessionPeer[] => [
    ...seats.live({ kind: 'chair' }).map(ofSeat),
    ...seats.live({ kind: 'plain' }).map(ofSeat),
    ...sessions.listLive().map(ofSession),
  ];

  return {
    find: findPeer,
    known(sessionId) {
      const peer = findPeer(sessionId);
      if (peer !== null) return peer;
      throw unknownSession(
        sessionId,
        listLivePeers().map((each) => each.sessionId),
      );
    },
    live: listLivePeers,
    ofWorker(workerId) {
      const session = sessions.newestOfWorker(workerId);
      return session === null ? null : ofSession(session);
    },
    chairOf(project) {
      const [seat] = seats.live({ kind: 'chair', project });
      return seat === undefined ? null : ofSeat(seat);
    },
  };
}
