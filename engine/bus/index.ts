import type { OperationsOf } from '../core/api/operation.ts';
import {
  createPeers,
  createReaper,
  guidanceOperations,
  type Session,
  type SessionPeers,
} from '../workers/sessions/index.ts';
import {
  createSeats,
  instructionOperations,
  type NewSeat,
  type SeatRegistry,
  type SeatSession,
  seatOperations,
} from '../workers/sessions/seats/index.ts';
import { type Asks, createAsks } from './asks/index.ts';
import { createAskNotice } from './asks/notice.ts';
import { askTools } from './asks/tools.ts';
import type { BusDeps, SessionOutcome } from './deps.ts';
import { createPost, type MessageService } from './post.ts';

export type { KeptAsks } from './asks/index.ts';

export interface Bus {
  seats: SeatRegistry;
  peers: SessionPeers;
  asks: Pick<Asks, 'list' | 'counts' | 'get' | 'withdraw'>;
  /** See `Post.surface`. */
  surface: MessageService['surface'];
  operations: (
    | OperationsOf<
        typeof seatOperations | typeof guidanceOperations | typeof instructionOperations | typeof askTools
      >
    | MessageService['operations'][number]
  )[];
  /** Registers a Chair or a plain session; `pid` is the process that holds the seat, if any. */
  attend(seat: Omit<NewSeat, 'process'> & { pid: number | null }): Promise<SeatSession>;
  leave(sessionId: string): Promise<boolean>;
  /** Closes an ended worker session's questions and sends its Chair the handoff. Call inside the transaction that ends it. */
  sessionEnded(session: Session, outcome: SessionOutcome): void;
  /** See `Post.addToHandoff`. */
  addToHandoff: MessageService['addToHandoff'];
  /** Sends a further note to the recipients of a session's handoff. Call inside `storage.write`. */
  tellOfSession(session: Session, text: string): void;
  /** See `Asks`. */
  findHold: Asks['findHold'];
  /** See `Asks`. */
  keepAsksOf: Asks['keepOf'];
  /** Times out the session's open questions, inside the transaction that resumes it without an answer. */
  dropAsksOf(sessionId: string): void;
  /** Starts delivery and retention; call it once everything is composed. */
  start(): void;
  close(): Promise<void>;
}

/** Composes the bus: seats, the roster, messages and asks. */
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
  const asks = createAsks({
    ...deps,
    notice: createAskNotice(post.messages),
    pauses: () => deps.config().asks.on_timeout === 'pause',
  });
  return {
    seats,
    peers,
    findHold: asks.findHold,
    keepAsksOf: asks.keepOf,
    dropAsksOf: asks.sessionEnded,
    asks,
    surface: post.surface,
    operations: [
      ...seatOperations({ storage: deps.storage, seats }),
      ...guidanceOperations(deps),
      ...instructionOperations({
        ...deps,
        workspaceName: () => deps.config().workspace.name,
        sessionOf: (sessionId) => (deps.sessions.isKnown(sessionId) ? deps.sessions.get(sessionId) : null),
      }),
      ...askTools({ ...deps, asks, peers }),
      ...post.operations,
    ],
    attend({ pid, ...seat }) {
      // A repeated call under a plain name: the seat is already open, and its process keeps it.
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
    addToHandoff: post.addToHandoff,
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
