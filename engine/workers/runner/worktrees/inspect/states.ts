/** What can be asked for of a session's worktree; most are in several of them. Loaded by the command line, so it stays alone. */
export const WORKTREE_STATES = [
  'dirty',
  'clean',
  'merged',
  'unmerged',
  'orphan',
  'live',
  'unreadable',
] as const;
export type WorktreeState = (typeof WORKTREE_STATES)[number];
