/** The names of pushed branches, whether merged work has arrived here, and the pull requests that are to be opened for the runs of sessions. */
export const pullRequestOrdersSchema = `
-- The name of the branch at the code host; NULL for that of the session's branch.
ALTER TABLE pull_request ADD COLUMN pushed_to TEXT;
-- 1 once the base branch of this machine has the merged work.
ALTER TABLE pull_request ADD COLUMN in_base INTEGER NOT NULL DEFAULT 0;

-- The branch of a session is to be pushed, and a pull request opened unless it has one. next_at: when that is tried
-- (again); NULL if a person has to decide. problem: why it was not done yet, a sentence.
CREATE TABLE pull_request_order (
  session_id INTEGER PRIMARY KEY,
  created_at INTEGER NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER,
  problem TEXT
) STRICT;
CREATE INDEX pull_request_order_due ON pull_request_order (next_at) WHERE next_at IS NOT NULL;
`;
