export const comments = `
-- What a person has written beside lines of a session's diff, until a follow-up has taken it or it is removed.
CREATE TABLE diff_comment (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL,
  -- Relative to the top of the repository.
  path TEXT NOT NULL,
  -- Of which the line is: new is the branch, old is what it was made from.
  side TEXT NOT NULL,
  line INTEGER NOT NULL,
  -- The line itself, as it was then.
  text TEXT NOT NULL,
  body TEXT NOT NULL,
  -- The commit at the end of the branch at that time.
  head TEXT NOT NULL,
  actor TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX diff_comment_of ON diff_comment (session);
`;
