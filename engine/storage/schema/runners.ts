/** Machines that run workers, and which session is on which; null for this machine. */
export const runnersSchema = `
CREATE TABLE runner (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  added_at INTEGER NOT NULL
) STRICT;
ALTER TABLE session ADD COLUMN runner INTEGER REFERENCES runner (id);
`;
