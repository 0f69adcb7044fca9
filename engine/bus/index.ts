import type { Clock } from '../clock.ts';
import type { Config } from '../config/index.ts';
import type { Operation } from '../operation.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import type { WorkspacePaths } from '../workspace-path.ts';
import { createPeers, type Peers } from './peers.ts';
import { createReaper, type ReaperDeps } from './reaper.ts';
import { createSeats, type Seats } from './seats/index.ts';
import { seatOperations } from './seats/operations.ts';
import type { Session, Sessions } from './sessions/index.ts';

export interface BusDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  sessions: Sessions;
  paths: WorkspacePaths;
  config(): Config;
  /** The workspace's folder, absolute. */
  root: string;
  /** The data folder, absolute. */
  data: string;
  /** Of programs that the bus starts and of nothing else. */
  env: NodeJS.ProcessEnv;
  /** Inside the transaction that closes a seat. */
  seatClosed(sessionId: string): void;
  isAlive: ReaperDeps['isAlive'];
  takeUp: ReaperDeps['takeUp'];
  log: { info(facts: object, text: string): void; error(facts: object, text: string): void };
}

/** How a session ended, for whom it concerns. */
export interface SessionOutcome {
  sealed: boolean;
  exitCode: number | null;
  reason: string | null;
  commits: number | null;
  files: number | null;
  insertions: number | null;
  deletions: number | null;
  /** State of its evidence; see `VerificationState`. */
  verification: string;
}

export interface Bus {
  seats: Seats;
  peers: Peers;
  operations: Operation[];
  /** Inside the transaction of a worker session's end: its questions are closed, and its Chair gets the handoff. */
  sessionEnded(session: Session, outcome: SessionOutcome): void;
  /** Begins to deliver and to look after what is kept; call it once everything is composed. */
  start(): void;
  close(): Promise<void>;
}

/** Who is here and what they say: seats, the roster, messages, asks. */
export function createBus(deps: BusDeps): Bus {
  const seats = createSeats({ ...deps, atClose: deps.seatClosed });
  const reaper = createReaper({
    ...deps,
    seats,
    intervalSec: () => deps.config().daemon.reap_interval_sec ?? 60,
  });
  const peers = createPeers({ sessions: deps.sessions, seats });
  return {
    seats,
    peers,
    operations: [...seatOperations({ storage: deps.storage, seats })],
    sessionEnded() {},
    start() {
      reaper.start();
    },
    async close() {
      reaper.close();
      await deps.storage.write(seats.flush).catch(() => undefined);
    },
  };
}
