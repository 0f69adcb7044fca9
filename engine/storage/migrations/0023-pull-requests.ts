export const pullRequests = `
-- The pull request of a session's branch, and its state when somebody last asked for it.
CREATE TABLE pull_request (
  session_id INTEGER PRIMARY KEY,
  -- Which program made it: gh, glab or tea.
  program TEXT NOT NULL,
  remote TEXT NOT NULL,
  -- What the program printed; NULL where no number could be read of that.
  number INTEGER, url TEXT,
  -- open, merged or closed; NULL when the program's word is another.
  state TEXT,
  -- The commit that was pushed.
  head TEXT NOT NULL,
  actor TEXT NOT NULL,
  created_at INTEGER NOT NULL, asked_at INTEGER
) STRICT;
`;
