/**
 * Filterable states of a session's worktree; most worktrees are in several of them. Loaded by the command line, so it
 * has no imports.
 */
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
