export { canCommit } from './can-commit.ts';
export { createFollowUps, type FollowUps } from './follow-up.ts';
export { createGuidance, type WorkerGuidance } from './guidance/index.ts';
export { guidanceOperations } from './guidance/operations.ts';
export type { LostRun } from './lost-runs.ts';
export { decideOutcome, type NextStep, outcomeOfSession, type RunOutcome, workLeftBy } from './outcome.ts';
export { createPeers, type SessionPeer, type SessionPeers } from './peers.ts';
export { createReaper, type ReaperDeps } from './reaper.ts';
export type { SessionFilter } from './records.ts';
export { createSessions, type Sessions } from './registry.ts';
export type { Session, SessionOrder, StopReason } from './rows.ts';
export { chairAddress, isOwnSeat, projectOfAddress } from './session-names.ts';
export {
  findLocalPath,
  findPlacement,
  formatRunnerId,
  formatSitePath,
  type LocalPlacement,
  parseRunnerId,
  type RunProcess,
  remoteSessionError,
  type SessionPlacement,
  type SitePath,
  writeSitePath,
} from './site.ts';
export type { ReadySession } from './turns.ts';
export {
  addClaim,
  type CountedCalls,
  EMPTY_BOOKS,
  type SessionBooks,
  type SessionUsage,
  sumUsages,
} from './usage.ts';
export { createVisitors, type SessionVisitor, type SessionVisitors } from './visitors.ts';
