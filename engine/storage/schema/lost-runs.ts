/** Runs that were given up with their machine, until that has been cleaned up; and machines that were cut off. */
export const lostRunsSchema = `
CREATE TABLE lost_run (
  run_id TEXT PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES session (id),
  number INTEGER NOT NULL,
  runner INTEGER NOT NULL REFERENCES runner (id),
  profile TEXT,
  placement TEXT,
  lost_at INTEGER NOT NULL,
  settled_at INTEGER
) STRICT;
CREATE INDEX lost_run_session ON lost_run (session_id);
CREATE INDEX lost_run_open ON lost_run (runner) WHERE settled_at IS NULL;
ALTER TABLE runner ADD COLUMN revoked_at INTEGER;
`;
