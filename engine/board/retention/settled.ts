/**
 * SQL condition for a session `s` with settled work: all of it is in another branch, and no session continues it.
 * Unreadable work counts as unsettled.
 */
export const IS_SETTLED = `(s.state = 'ended' AND s.worktree IS NULL AND s.attach_pid IS NULL
  AND (s.promoted_at IS NOT NULL OR s.branch IS NULL OR s.branch_state IS NOT NULL
    OR coalesce(s.commits, s.cwd IS NOT NULL) = 0)
  AND NOT EXISTS (SELECT 1 FROM session n WHERE n.continues = s.id AND n.state <> 'ended'))`;
