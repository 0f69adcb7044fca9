export { decideOutcome, type NextStep, outcomeOfSession, type RunOutcome, workLeftBy } from './outcome.ts';
export { createPeers, type Peer, type Peers } from './peers.ts';
export { createReaper, type ReaperDeps } from './reaper.ts';
export type { Placement } from './records.ts';
export { createSessions, type Sessions } from './registry.ts';
export type { Session, StopReason } from './rows.ts';
export { chairAddress, isOwnSeat, projectOfAddress } from './session-names.ts';
