/** The comments that are to be posted at code hosts. */
export const forgeCommentsSchema = `
-- kind: the agent's answer to a review, or the end of the pull request for its issue. next_at: when it is tried (again).
CREATE TABLE forge_comment (
  session_id INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('reply','end')),
  created_at INTEGER NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, kind)
) STRICT;
`;
