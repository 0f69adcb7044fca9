/** Keys of persons for the gateway, for their own agents; runs have theirs in virtual_key. */
export const gateway = `
CREATE TABLE person_key (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL, revoked_at INTEGER
) STRICT;
CREATE UNIQUE INDEX person_key_name ON person_key (name) WHERE revoked_at IS NULL;
`;
