/** Keys of the gateway, of which only hashes are stored. */
export const gatewayKeysSchema = `
-- Keys of runs. limited_until is what a provider reported.
CREATE TABLE virtual_key (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  session_id INTEGER NOT NULL, task_id INTEGER NOT NULL,
  budget_tokens INTEGER,
  limited_until INTEGER,
  created_at INTEGER NOT NULL, revoked_at INTEGER
) STRICT;
CREATE INDEX virtual_key_live ON virtual_key (session_id) WHERE revoked_at IS NULL;
CREATE INDEX virtual_key_by_session ON virtual_key (session_id);

-- Keys of persons; one with a pid ends with that process.
CREATE TABLE person_key (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL, revoked_at INTEGER,
  pid INTEGER, pid_start TEXT
) STRICT;
CREATE UNIQUE INDEX person_key_name ON person_key (name) WHERE revoked_at IS NULL;
`;
