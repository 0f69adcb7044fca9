/** Data for restoring discarded work and undoing a promotion. */
export const undo = `
-- By session. is_done: all of it was removed; else its removal has begun, and goes on when the engine starts.
CREATE TABLE discarded_work (
  session_id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL, actor TEXT NOT NULL,
  -- As session.branch_state was before.
  state_before TEXT,
  is_done INTEGER NOT NULL DEFAULT 0,
  -- Commits: of the branch; checked out beside it; of files that were in none, with the index as second parent.
  head TEXT, detached TEXT, files TEXT,
  -- The worktree's folder.
  path TEXT
) STRICT;
-- The last promotion of a session, as long as it can be undone. is_undoing: its base may have moved back already.
CREATE TABLE promotion (
  session_id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  base TEXT NOT NULL, head TEXT NOT NULL, before_commit TEXT NOT NULL, after_commit TEXT NOT NULL,
  -- The worktree's folder at that time.
  path TEXT,
  is_undoing INTEGER NOT NULL DEFAULT 0
) STRICT;
`;
