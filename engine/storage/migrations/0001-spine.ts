/**
 * Tasks, decisions, sessions, the event log, the replay cache and the outbox. Times are Unix milliseconds.
 *
 * AUTOINCREMENT only where rows are deleted (delivery): elsewhere ids are not reused anyway, and an insert does not
 * have to write a second table.
 */
export const spine = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- Append-only. Everything that changes leaves one row here; clients follow it by seq.
CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  task_id INTEGER, decision_id INTEGER, session_id INTEGER,
  actor TEXT, via TEXT,
  data TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE INDEX event_by_task ON event (task_id) WHERE task_id IS NOT NULL;

CREATE TABLE task (
  id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  agent TEXT, project TEXT, template TEXT,
  status TEXT NOT NULL CHECK (status IN ('open','assigned','running','done','failed')),
  acceptance_criteria TEXT NOT NULL DEFAULT '[]',
  context TEXT, ledger TEXT,
  source TEXT NOT NULL, source_ref TEXT,
  session_id INTEGER,
  attempt INTEGER NOT NULL DEFAULT 1,
  timeout_sec INTEGER,
  created_at INTEGER NOT NULL, assigned_at INTEGER, started_at INTEGER, ended_at INTEGER,
  exit_code INTEGER, failure_code TEXT, failure_text TEXT, summary TEXT
) STRICT;
CREATE INDEX task_by_status ON task (status);

CREATE TABLE decision (
  id INTEGER PRIMARY KEY,
  task_id INTEGER NOT NULL REFERENCES task (id),
  kind TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending','approved','denied','expired')),
  agent TEXT, project TEXT,
  hash TEXT NOT NULL,
  why TEXT NOT NULL,
  source TEXT NOT NULL, source_ref TEXT,
  created_at INTEGER NOT NULL,
  decided_at INTEGER, decided_by TEXT, decided_via TEXT, reason TEXT,
  consumed_at INTEGER, session_id INTEGER
) STRICT;
CREATE INDEX decision_by_task ON decision (task_id);
-- At most one decision of a task is open, whatever races for it.
CREATE UNIQUE INDEX decision_one_open ON decision (task_id)
  WHERE state = 'pending' OR (state = 'approved' AND consumed_at IS NULL);

CREATE TABLE worker (
  id INTEGER PRIMARY KEY,
  name TEXT UNIQUE
) STRICT;

CREATE TABLE session (
  id INTEGER PRIMARY KEY,
  task_id INTEGER NOT NULL REFERENCES task (id),
  decision_id INTEGER NOT NULL REFERENCES decision (id),
  worker_id INTEGER NOT NULL REFERENCES worker (id),
  title TEXT NOT NULL,
  agent TEXT NOT NULL, project TEXT,
  state TEXT NOT NULL CHECK (state IN ('queued','starting','running','ended')),
  inplace INTEGER NOT NULL DEFAULT 0, keep_worktree INTEGER NOT NULL DEFAULT 0,
  base_wanted TEXT,
  timeout_sec INTEGER NOT NULL, idle_timeout_sec INTEGER NOT NULL,
  run_id TEXT, pid INTEGER, pid_start TEXT,
  repository TEXT, worktree TEXT, cwd TEXT, branch TEXT, base TEXT, base_commit TEXT,
  stop_reason TEXT, stop_actor TEXT,
  exit_code INTEGER, exit_signal TEXT, failure_code TEXT, failure_text TEXT,
  head_commit TEXT, commits INTEGER, files INTEGER, insertions INTEGER, deletions INTEGER,
  promoted_at INTEGER,
  created_at INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER
) STRICT;
CREATE INDEX session_by_task ON session (task_id);
CREATE INDEX session_by_branch ON session (branch) WHERE branch IS NOT NULL;
CREATE INDEX session_by_run ON session (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX session_live ON session (id) WHERE state <> 'ended';
-- One live session per task: the last line of defence against starting a task twice.
CREATE UNIQUE INDEX session_one_live ON session (task_id) WHERE state <> 'ended';

-- Signatures (32 bytes) of the last ten minutes, on any route. Read once, at the start; see engine/receiver/replay.ts.
CREATE TABLE replay (id INTEGER PRIMARY KEY, signature BLOB NOT NULL, expires_at INTEGER NOT NULL) STRICT;

-- What one outside key (an Idempotency-Key, an issue, a comment) has already made. NULL never expires.
CREATE TABLE receipt (
  key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, task_id INTEGER NOT NULL REFERENCES task (id), expires_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX receipt_by_expiry ON receipt (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE delivery (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  event_seq INTEGER NOT NULL,
  event TEXT NOT NULL,
  message_id TEXT NOT NULL,
  url TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending','delivered','dead')),
  attempts INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL, first_at INTEGER NOT NULL, next_at INTEGER NOT NULL,
  delivered_at INTEGER, last_status INTEGER, last_error TEXT
) STRICT;
CREATE INDEX delivery_due ON delivery (url, next_at) WHERE state = 'pending';
CREATE INDEX delivery_next ON delivery (next_at) WHERE state = 'pending';
CREATE INDEX delivery_dead ON delivery (id) WHERE state = 'dead';
CREATE INDEX delivery_settled ON delivery (created_at) WHERE state <> 'pending';
`;
