/** The link to a server, and the telemetry sent to it. */
export const linkSchema = `
-- The linked server of this workspace; at most one row.
CREATE TABLE link (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  server TEXT NOT NULL,
  -- The id that the server gave to this workspace.
  workspace TEXT NOT NULL,
  account TEXT NOT NULL, person TEXT NOT NULL,
  -- The public key of its leases when the workspace was linked.
  lease_key TEXT NOT NULL,
  linked_at INTEGER NOT NULL,
  -- When the current token was created.
  token_at INTEGER NOT NULL,
  -- When the server stopped accepting the token.
  revoked_at INTEGER
) STRICT;

-- Events that the server has not received yet, in their order.
CREATE TABLE link_event (
  id INTEGER PRIMARY KEY,
  message_id TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- Commands that were applied or refused, so that none runs twice, and the outcome to report of each.
CREATE TABLE link_command (
  id TEXT PRIMARY KEY,
  outcome TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX link_command_by_time ON link_command (at);

-- The secret of one-time codes (RFC 6238); at most one row.
CREATE TABLE link_code (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  secret BLOB NOT NULL,
  made_at INTEGER NOT NULL,
  -- The newest time step whose code was used.
  last_step INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  -- Approving from outside is refused until then.
  closed_until INTEGER NOT NULL DEFAULT 0
) STRICT;

-- How far the event log was counted for the linked server; at most one row.
CREATE TABLE telemetry (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  -- The start of counting; NULL while it is off.
  counting_since INTEGER,
  counted_seq INTEGER NOT NULL,
  -- The newest schema that a person has read; 0 for none.
  seen_schema INTEGER NOT NULL
) STRICT;

-- The counts of a UTC day, as JSON.
CREATE TABLE telemetry_day (
  day TEXT PRIMARY KEY,
  counts TEXT NOT NULL,
  -- 1 if the server does not have this version.
  is_due INTEGER NOT NULL,
  -- The last body that was sent, byte for byte.
  sent_body TEXT, sent_at INTEGER,
  -- When and why the server refused it.
  refused_at INTEGER, refused_why TEXT
) STRICT, WITHOUT ROWID;
`;
