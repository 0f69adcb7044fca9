/** The follow-ups of svc to the checks and reviews of a pull request. */
export const pullRequestRoundsSchema = `
-- kind and subject: the commit whose checks have failed, or the id of a review. first_session: of the branch. session_id:
-- the one that the follow-up continues. task_id: the follow-up; NULL if there is none, for the reason in problem. state:
-- open until its follow-up is not needed any more.
CREATE TABLE pull_request_round (
  id INTEGER PRIMARY KEY,
  first_session INTEGER NOT NULL,
  session_id INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('checks','review')),
  subject TEXT NOT NULL,
  task_id INTEGER,
  state TEXT NOT NULL CHECK (state IN ('open','passed','superseded')),
  problem TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (first_session, kind, subject)
) STRICT;
`;
