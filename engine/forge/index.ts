export { createForgeAccess } from './access.ts';
export type { ForgeKind } from './config.ts';
export { findPauseMs } from './find-pause.ts';
export {
  COMMENT_MARK,
  type CommitCheck,
  type Forge,
  type ForgeComment,
  type ForgeIssue,
  type ForgePullRequest,
  type ForgeText,
  type PullRequestPlace,
  type ReviewComment,
  type SubmittedReview,
  type WantedComment,
} from './forge.ts';
export { openForge, readPlace } from './open-forge.ts';
export { runPersonProgram } from './person-programs.ts';
export { formatTime } from './read-json.ts';
export { type ForgeMemory, findStatus } from './requests.ts';
