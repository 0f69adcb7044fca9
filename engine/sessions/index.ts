export { decideOutcome, type NextStep, outcomeOfSession, type RunOutcome, workLeftBy } from './outcome.ts';
export { createPeers, type Peer, type Peers } from './peers.ts';
export { createReaper, type ReaperDeps } from './reaper.ts';
export { createSessions, type Sessions } from './registry.ts';
export type { Session, SessionOrder, StopReason } from './rows.ts';
export { chairAddress, isOwnSeat, projectOfAddress } from './session-names.ts';
export { findPlacement, type Placement, type RunProcess } from './site.ts';
export { createVisitors, type Visitor, type Visitors } from './visitors.ts';
