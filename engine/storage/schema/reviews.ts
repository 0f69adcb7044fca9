/** Evidence about the work of a session, and what has become of it. */
export const reviewsSchema = `
-- The newest row of a session is its evidence; head_commit is the end of its branch at that time. rerun_mark marks the
-- processes of a rerun in progress; rerun_head is the commit that was rerun; rerun_due: the time since which a rerun by
-- the engine is due; rerun_problem: why it was not possible.
CREATE TABLE verification (
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL, task_id INTEGER,
  head_commit TEXT, summary TEXT,
  criteria TEXT NOT NULL DEFAULT '[]', tests TEXT NOT NULL DEFAULT '[]', symbols TEXT NOT NULL DEFAULT '[]',
  reported_at INTEGER NOT NULL, reported_by TEXT NOT NULL,
  rerun TEXT, rerun_at INTEGER, rerun_by TEXT, rerun_mark TEXT,
  rerun_head TEXT, rerun_due INTEGER, rerun_problem TEXT
) STRICT;
CREATE INDEX verification_by_session ON verification (session_id, id);
CREATE INDEX verification_due ON verification (rerun_due) WHERE rerun_due IS NOT NULL;

-- By session. is_done: everything was removed; otherwise the removal has begun, and resumes when the engine starts.
CREATE TABLE discarded_work (
  session_id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL, actor TEXT NOT NULL,
  -- The former session.branch_state.
  state_before TEXT,
  is_done INTEGER NOT NULL DEFAULT 0,
  -- Commits: of the branch; checked out instead of it; of uncommitted files, with the index as second parent.
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

-- Comments of a person on lines of a session's diff, until a follow-up takes them or they are removed.
CREATE TABLE diff_comment (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL,
  -- Relative to the top of the repository.
  path TEXT NOT NULL,
  -- The side of the line: new is the branch, old is its base.
  side TEXT NOT NULL,
  line INTEGER NOT NULL,
  -- The line as it was then.
  text TEXT NOT NULL,
  body TEXT NOT NULL,
  -- The commit at the end of the branch at that time.
  head TEXT NOT NULL,
  actor TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX diff_comment_of ON diff_comment (session);

-- The pull request of a session's branch, and its state when it was last read.
CREATE TABLE pull_request (
  session_id INTEGER PRIMARY KEY,
  -- The program that created it: gh, glab or tea.
  program TEXT NOT NULL,
  remote TEXT NOT NULL,
  -- As the program printed them; NULL if there was no number.
  number INTEGER, url TEXT,
  -- open, merged or closed; NULL for any other state.
  state TEXT,
  -- The commit that was pushed.
  head TEXT NOT NULL,
  actor TEXT NOT NULL,
  created_at INTEGER NOT NULL, asked_at INTEGER
) STRICT;
`;
