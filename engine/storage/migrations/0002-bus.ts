/**
 * Participants, and their messages, asks, locks, claims and evidence.
 *
 * A session is named by text here (`s-12`, `chair-3`, a plain session's name): most of these tables are about
 * sessions of all three kinds. `call_key` names the call that created a row, so that a repeat of the call finds it.
 */
export const bus = `
ALTER TABLE session ADD COLUMN parent TEXT;
ALTER TABLE session ADD COLUMN call_key TEXT;
ALTER TABLE session ADD COLUMN promoted_by TEXT;
ALTER TABLE task ADD COLUMN call_key TEXT;
CREATE UNIQUE INDEX session_by_call ON session (call_key) WHERE call_key IS NOT NULL;
CREATE UNIQUE INDEX task_by_call ON task (call_key) WHERE call_key IS NOT NULL;
CREATE INDEX session_by_parent ON session (parent) WHERE parent IS NOT NULL;

-- Sessions that are nobody's run: the Chair's, and plain ones that agents started by hand give themselves.
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

-- To exactly one of: a session (also the Chair's seat, 'chair' or 'chair@project'), a worker over its sessions, an agent.
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

-- path is relative to the workspace's folder, '.' for all of it. fence grows with every grant.
CREATE TABLE lock (
  path TEXT PRIMARY KEY, holder TEXT NOT NULL, fence INTEGER NOT NULL, acquired_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The n-th checklist item of a ledger, counted from 1; text is what the item said when it was claimed.
CREATE TABLE claim (
  ledger TEXT NOT NULL, item INTEGER NOT NULL, text TEXT NOT NULL,
  holder TEXT NOT NULL, claimed_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  PRIMARY KEY (ledger, item)
) STRICT, WITHOUT ROWID;

-- The newest row of a session is its evidence; head_commit is where its branch ended when it was given. rerun_mark is
-- the mark of the processes of a rerun under way.
CREATE TABLE verification (
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL, task_id INTEGER,
  head_commit TEXT, summary TEXT,
  criteria TEXT NOT NULL DEFAULT '[]', tests TEXT NOT NULL DEFAULT '[]', symbols TEXT NOT NULL DEFAULT '[]',
  reported_at INTEGER NOT NULL, reported_by TEXT NOT NULL,
  rerun TEXT, rerun_at INTEGER, rerun_by TEXT, rerun_mark TEXT
) STRICT;
CREATE INDEX verification_by_session ON verification (session_id, id);

-- What a call has answered whose result is no row of its own; kept for as long as it may be sent again.
CREATE TABLE answered (call TEXT PRIMARY KEY, answer TEXT NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX answered_at ON answered (at);
`;
