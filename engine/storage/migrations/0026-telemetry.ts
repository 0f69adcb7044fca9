export const telemetry = `
-- How far the event log was counted for the linked server; at most one row.
CREATE TABLE telemetry (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  -- Since when it is counted; NULL while it is not.
  counting_since INTEGER,
  counted_seq INTEGER NOT NULL,
  -- The newest schema that a person has seen; 0 for none.
  seen_schema INTEGER NOT NULL
) STRICT;
-- What was counted of a UTC day, as JSON.
CREATE TABLE telemetry_day (
  day TEXT PRIMARY KEY,
  counts TEXT NOT NULL,
  -- 1: the server does not have it as it is.
  is_due INTEGER NOT NULL,
  -- What was sent last, byte for byte.
  sent_body TEXT, sent_at INTEGER,
  -- When the server refused it, and why.
  refused_at INTEGER, refused_why TEXT
) STRICT, WITHOUT ROWID;
`;
