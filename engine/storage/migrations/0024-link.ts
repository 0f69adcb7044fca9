export const link = `
-- 1: a person or an issue gave the title; 0: it was made of the prompt.
ALTER TABLE task ADD COLUMN title_given INTEGER NOT NULL DEFAULT 0;
-- The handle of whoever wrote it outside of this machine.
ALTER TABLE task ADD COLUMN author TEXT;
-- 1: the code host says that its author is owner, member or collaborator.
ALTER TABLE task ADD COLUMN vouched INTEGER NOT NULL DEFAULT 0;

-- The linked server that this workspace's token is of; at most one row.
CREATE TABLE link (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  server TEXT NOT NULL,
  -- The id that the server gave to this workspace.
  workspace TEXT NOT NULL,
  account TEXT NOT NULL, person TEXT NOT NULL,
  -- The public key of its leases, as it was when the workspace was linked.
  lease_key TEXT NOT NULL,
  linked_at INTEGER NOT NULL,
  -- When the token in use was made.
  token_at INTEGER NOT NULL,
  -- The server takes the token no longer.
  revoked_at INTEGER
) STRICT;
-- What the server has not been told yet, in the order in which it happened.
CREATE TABLE link_event (
  id INTEGER PRIMARY KEY,
  message_id TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
-- Commands that were applied or refused, so that none is twice, and what the server is to be told of each.
CREATE TABLE link_command (
  id TEXT PRIMARY KEY,
  outcome TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX link_command_by_time ON link_command (at);
-- What one-time codes are made from (RFC 6238); at most one row.
CREATE TABLE link_code (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  secret BLOB NOT NULL,
  made_at INTEGER NOT NULL,
  -- The newest step of time whose code was used.
  last_step INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  -- Approving from outside is refused until then.
  closed_until INTEGER NOT NULL DEFAULT 0
) STRICT;
`;
