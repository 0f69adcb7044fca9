import type { OperationsOf } from '../api/operation.ts';
import { createPeers, createReaper, type Peers, type Session } from '../sessions/index.ts';
import {
  createSeats,
  instructionOperations,
  type NewSeat,
  type SeatSession,
  type Seats,
  seatOperations,
} from '../sessions/seats/index.ts';
import { type Asks, createAsks } from './asks/index.ts';
import { createAskNotice } from './asks/notice.ts';
import { askTools } from './asks/tools.ts';
import type { BusDeps, SessionOutcome } from './deps.ts';
import { createPost, type Post } from './post.ts';

export interface Bus {
  seats: Seats;
  peers: Peers;
  asks: Pick<Asks, 'list'>;
  /** See `Post.surface`. */
  surface: Post['surface'];
  operations: (
    | OperationsOf<typeof seatOperations | typeof instructionOperations | typeof askTools>
    | Post['operations'][number]
  )[];
  /** Puts a Chair or a plain session on the register; `pid` is the process that holds the seat, if one does. */
  attend(seat: Omit<NewSeat, 'process'> & { pid: number | null }): Promise<SeatSession>;
  leave(sessionId: string): Promise<boolean>;
  /** Inside the transaction of a worker session's end: its questions are closed, and its Chair gets the handoff. */
  sessionEnded(session: Session, outcome: SessionOutcome): void;
  /** Inside `storage.write`: whoever got the handoff of a session is told something more of it. */
  tellOfSession(session: Session, text: string): void;
  /** Whether a question of the session waits for its answer. */
  isAsking(sessionId: string): boolean;
  /** Begins to deliver and to look after what is kept; call it once everything is composed. */
  start(): void;
  close(): Promise<void>;
}

/** Who is here and what they say: seats, the roster, messages, asks. */
export function createBus(deps: BusDeps): Bus {
  const seats = createSeats({
    ...deps,
    atClose(sessionId) {
      asks.sessionEnded(sessionId);
      deps.seatClosed(sessionId);
    },
  });
  const reaper = createReaper({
    ...deps,
    seats,
    intervalSec: () => deps.config().daemon.reap_interval_sec ?? 60,
  });
  const peers = createPeers({ sessions: deps.sessions, seats });
  const post = createPost(deps, peers);
  const asks = createAsks({ ...deps, notice: createAskNotice(post.messages) });
  return {
    seats,
    peers,
    isAsking: asks.isAsking,
    asks,
    surface: post.surface,
    operations: [
      ...seatOperations({ storage: deps.storage, seats }),
      ...instructionOperations({
        ...deps,
        workspaceName: () => deps.config().workspace.name,
        sessionOf: (sessionId) => (deps.sessions.isKnown(sessionId) ? deps.sessions.get(sessionId) : null),
      }),
      ...askTools({ ...deps, asks, peers }),
      ...post.operations,
    ],
    attend({ pid, ...seat }) {
      // One call of many under a plain name: the seat is there, and whatever process holds it keeps it.
      const known = pid === null && seat.name !== null ? seats.find(seat.name) : null;
      if (known !== null && known.closedAt === null) {
        seats.seen(known.sessionId);
        return Promise.resolve(known);
      }
      const pidStart = pid === null ? null : deps.startOf(pid);
      const process = pid === null || pidStart === null ? null : { pid, pidStart };
      return deps.storage.write(() => seats.open({ ...seat, process }));
    },
    leave: (sessionId) => deps.storage.write(() => seats.close(sessionId, 'it left')),
    sessionEnded(session, outcome) {
      asks.sessionEnded(session.sessionId);
      post.handOff(session, outcome);
    },
    tellOfSession: post.tellOfSession,
    start() {
      reaper.start();
      asks.start();
      post.start();
    },
    async close() {
      reaper.close();
      asks.close();
      await post.close();
      await deps.storage.write(seats.flush).catch(() => undefined);
    },
  };
}
