/** Tasks, the decisions on them, and what makes their requests unique. */
export const tasksSchema = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- Append-only. Every change leaves one row here; clients follow it by seq.
CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  task_id INTEGER, decision_id INTEGER, session_id INTEGER,
  actor TEXT, via TEXT,
  data TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE INDEX event_by_task ON event (task_id) WHERE task_id IS NOT NULL;

-- priority: -1 low, 0 normal, 1 high. resume_at: when its paused session resumes. stranger: why its author is not trusted,
-- NULL if it is. race: the open race, during which nothing else is dispatched for it. title_given: 1 if a person or an
-- issue gave the title, 0 if it was made from the prompt. author: the handle of an author outside this machine. vouched:
-- 1 if the code host says that the author is an owner, member or collaborator.
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
  exit_code INTEGER, failure_code TEXT, failure_text TEXT, summary TEXT,
  priority INTEGER NOT NULL DEFAULT 0, resume_at INTEGER, stranger TEXT, archived_at INTEGER, race INTEGER,
  title_given INTEGER NOT NULL DEFAULT 0, author TEXT, vouched INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX task_by_status ON task (status);
CREATE INDEX task_archived ON task (id) WHERE archived_at IS NOT NULL;

-- inputs: everything that would run, as JSON of inputs_version; hash covers both. options: the other choices of the
-- request, as JSON. changes: the differences from the decision that it replaces, as JSON.
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
  consumed_at INTEGER, session_id INTEGER,
  inputs TEXT, inputs_version INTEGER NOT NULL DEFAULT 0, options TEXT, changes TEXT
) STRICT;
CREATE INDEX decision_by_task ON decision (task_id);
-- At most one decision of a task is open, whatever races for it.
CREATE UNIQUE INDEX decision_one_open ON decision (task_id)
  WHERE state = 'pending' OR (state = 'approved' AND consumed_at IS NULL);
-- Decisions that wait for a person in the order of their ids, without the many that are decided.
CREATE INDEX decision_pending ON decision (id) WHERE state = 'pending';

-- Several sessions that work on one task from the same commit, of which one is promoted. open: none is chosen yet;
-- promoted: one was; lost: none ended well; cancelled: the task was.
CREATE TABLE race (
  id INTEGER PRIMARY KEY,
  task_id INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open','promoted','lost','cancelled')),
  -- The commit that all start from; NULL until the first one starts.
  base_commit TEXT,
  -- The session that was promoted.
  winner INTEGER,
  created_at INTEGER NOT NULL, ended_at INTEGER
) STRICT;
CREATE INDEX race_by_task ON race (task_id);
CREATE UNIQUE INDEX race_one_open ON race (task_id) WHERE state = 'open';

-- Signatures (32 bytes) of the last ten minutes, on any route, read once at the start (engine/receiver/replay.ts).
-- expires_at is of the monotonic clock, since the boot that meta names in replay_boot. signed_at: Unix ms, NULL if the
-- scheme signs no time.
CREATE TABLE replay (id INTEGER PRIMARY KEY, signature BLOB NOT NULL, expires_at INTEGER NOT NULL, signed_at INTEGER) STRICT;

-- The task that an outside key (an Idempotency-Key, an issue, a comment) has created. NULL never expires.
CREATE TABLE receipt (
  key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, task_id INTEGER NOT NULL REFERENCES task (id), expires_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX receipt_by_expiry ON receipt (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX receipt_by_task ON receipt (task_id);

-- Calls with a key that changed something, by caller: a repeated call is answered from here and changes nothing. Written
-- in the transaction of the change. is_answer: value is the answer in wire form, otherwise what the call needs to resume.
CREATE TABLE call (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  caller TEXT NOT NULL,
  operation TEXT NOT NULL,
  key TEXT NOT NULL,
  input TEXT NOT NULL,
  is_answer INTEGER NOT NULL,
  value TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (caller, operation, key)
) STRICT;
`;
