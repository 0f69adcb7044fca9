export { createForgeAccess } from './access.ts';
export type { ForgeKind } from './config.ts';
export { findPauseMs } from './find-pause.ts';
export type {
  CommitCheck,
  Forge,
  ForgeComment,
  ForgeIssue,
  ForgePullRequest,
  ForgeText,
  PullRequestPlace,
  ReviewComment,
  SubmittedReview,
} from './forge.ts';
export { openForge, readPlace } from './open-forge.ts';
export { runPersonProgram } from './person-programs.ts';
export { formatTime } from './read-json.ts';
export type { ForgeMemory } from './requests.ts';
