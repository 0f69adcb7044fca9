/** Seats, messages, questions, locks and claims. */
export const busSchema = `
-- Sessions that are not runs: the Chair's, and plain ones that agents started by hand open.
CREATE TABLE seat (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('chair','plain')),
  name TEXT,
  project TEXT, agent TEXT, title TEXT,
  pid INTEGER, pid_start TEXT, notify_base TEXT,
  opened_at INTEGER NOT NULL, seen_at INTEGER NOT NULL, misses INTEGER NOT NULL DEFAULT 0, closed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX seat_by_name ON seat (name) WHERE name IS NOT NULL;
CREATE INDEX seat_open ON seat (id) WHERE closed_at IS NULL;

-- Addressed to exactly one of: a session (including the Chair's seat, 'chair' or 'chair@project'), a worker across its
-- sessions, an agent.
CREATE TABLE message (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('note','handoff','alert')),
  body TEXT NOT NULL, payload_path TEXT,
  from_session TEXT, from_agent TEXT, from_name TEXT,
  to_session TEXT, to_worker TEXT, to_agent TEXT,
  parent_id INTEGER, task_id INTEGER,
  call_key TEXT,
  created_at INTEGER NOT NULL, acked_at INTEGER, acked_by TEXT,
  delivery TEXT NOT NULL CHECK (delivery IN ('pending','delivered','failed','none')),
  attempts INTEGER NOT NULL DEFAULT 0, next_at INTEGER, delivered_at INTEGER, last_error TEXT
) STRICT;
CREATE INDEX message_to_session ON message (to_session, id) WHERE to_session IS NOT NULL;
CREATE INDEX message_to_worker ON message (to_worker, id) WHERE to_worker IS NOT NULL;
CREATE INDEX message_to_agent ON message (to_agent, id) WHERE to_agent IS NOT NULL;
CREATE INDEX message_due ON message (next_at) WHERE delivery = 'pending';
CREATE INDEX message_acked ON message (acked_at) WHERE acked_at IS NOT NULL;
CREATE INDEX message_unread ON message (created_at) WHERE acked_at IS NULL;
CREATE UNIQUE INDEX message_by_call ON message
  (call_key, coalesce(to_session, ''), coalesce(to_worker, ''), coalesce(to_agent, '')) WHERE call_key IS NOT NULL;

CREATE TABLE ask (
  id INTEGER PRIMARY KEY,
  status TEXT NOT NULL CHECK (status IN ('open','answered','timeout')),
  from_session TEXT, task_id INTEGER,
  to_session TEXT NOT NULL, project TEXT,
  question TEXT NOT NULL, context TEXT, options TEXT NOT NULL DEFAULT '[]',
  created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  answered_at INTEGER, answered_by TEXT, answer TEXT, symbol_ref TEXT,
  call_key TEXT UNIQUE
) STRICT;
CREATE INDEX ask_open ON ask (expires_at) WHERE status = 'open';
CREATE INDEX ask_by_session ON ask (from_session);

-- path is relative to the workspace, '.' for all of it. fence grows with every grant. The sessions of a race may hold the
-- same path, each in its own worktree.
CREATE TABLE lock (
  path TEXT NOT NULL, holder TEXT NOT NULL, fence INTEGER NOT NULL, acquired_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  PRIMARY KEY (path, holder)
) STRICT, WITHOUT ROWID;

-- The n-th checklist item of a ledger, counted from 1; text is the item as it was claimed.
CREATE TABLE claim (
  ledger TEXT NOT NULL, item INTEGER NOT NULL, text TEXT NOT NULL,
  holder TEXT NOT NULL, claimed_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  PRIMARY KEY (ledger, item, holder)
) STRICT, WITHOUT ROWID;
`;
