/** What svc has made of the checks of a pull request. */
export const pullRequestRoundsSchema = `
-- One for each commit whose checks have failed. first_session: of the branch. task_id: the follow-up; NULL if there is
-- none, for the reason in problem. state: open until its follow-up has ended or is not needed any more.
CREATE TABLE pull_request_round (
  id INTEGER PRIMARY KEY,
  first_session INTEGER NOT NULL,
  head TEXT NOT NULL,
  task_id INTEGER,
  state TEXT NOT NULL CHECK (state IN ('open','passed','superseded')),
  problem TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (first_session, head)
) STRICT;
`;
