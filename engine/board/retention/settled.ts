/**
 * SQL that is true of a session `s` whose work is settled: nothing of it is left that is in no other branch, and nobody
 * goes on with it. What could not be read counts as work.
 */
export const IS_SETTLED = `(s.state = 'ended' AND s.worktree IS NULL AND s.attach_pid IS NULL
  AND (s.promoted_at IS NOT NULL OR s.branch IS NULL OR s.branch_state IS NOT NULL
    OR coalesce(s.commits, s.cwd IS NOT NULL) = 0)
  AND NOT EXISTS (SELECT 1 FROM session n WHERE n.continues = s.id AND n.state <> 'ended'))`;
