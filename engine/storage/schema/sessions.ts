/** Sessions of workers, and what is known about their agents. */
export const sessionsSchema = `
CREATE TABLE worker (
  id INTEGER PRIMARY KEY,
  name TEXT UNIQUE
) STRICT;

-- A queued session with resume_at has paused because of pause_code; it keeps its worktree. runs counts the starts of its
-- agent; log_from is the byte of the log where the last run begins. continues: the ended session whose worktree and
-- conversation it continues. Tokens and cost are as the agent reports them, summed over the runs that made no call
-- through the gateway. attach_pid: the process of the person who works in it; until it ends, the session does not
-- resume. containment: how its processes are held
-- together (cgroup, pidns or marks). own_word: the worker's own claim, done or failed. run_started_monotonic: ms of the
-- clock that is never set and stops during sleep; valid until the next boot. idle_pauses: pauses in a row after runs that
-- did nothing. branch_state: merged (its base has the work) or gone, without a promotion. discard_due: another session of
-- its race was promoted, so it is discarded once it has ended.
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
  created_at INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER,
  parent TEXT, promoted_by TEXT, priority INTEGER NOT NULL DEFAULT 0, resume_at INTEGER, pause_code TEXT,
  pause_text TEXT, runs INTEGER NOT NULL DEFAULT 0, run_started_at INTEGER,
  log_from INTEGER NOT NULL DEFAULT 0, continues INTEGER, transport TEXT, auth TEXT, profile TEXT,
  token_budget INTEGER, agent_session TEXT, model TEXT, tokens_in INTEGER, tokens_cached INTEGER,
  tokens_out INTEGER, cost_usd REAL, tool_calls INTEGER, attach_pid INTEGER, attach_start TEXT,
  containment TEXT, own_word TEXT, run_started_monotonic INTEGER, idle_pauses INTEGER NOT NULL DEFAULT 0,
  branch_state TEXT, race INTEGER, discard_due INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX session_by_task ON session (task_id);
CREATE INDEX session_by_branch ON session (branch) WHERE branch IS NOT NULL;
CREATE INDEX session_by_run ON session (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX session_live ON session (id) WHERE state <> 'ended';
CREATE INDEX session_by_parent ON session (parent) WHERE parent IS NOT NULL;
CREATE INDEX session_attached ON session (id) WHERE attach_pid IS NOT NULL;
CREATE INDEX session_paused ON session (resume_at) WHERE resume_at IS NOT NULL;
CREATE INDEX session_by_decision ON session (decision_id);
CREATE INDEX session_continues ON session (continues) WHERE continues IS NOT NULL;
CREATE INDEX session_by_race ON session (race) WHERE race IS NOT NULL;
CREATE INDEX session_discard_due ON session (id) WHERE discard_due = 1;
-- One live session per task, or per place in a race: the last defence against starting a task twice.
CREATE UNIQUE INDEX session_one_live ON session (task_id) WHERE state <> 'ended' AND race IS NULL;

-- Agents whose last runs failed in a row for reasons of their own. Nothing starts until reopen_at, then one at a time.
CREATE TABLE circuit (
  agent TEXT PRIMARY KEY,
  failures INTEGER NOT NULL,
  code TEXT NOT NULL, text TEXT NOT NULL,
  opened_at INTEGER, reopen_at INTEGER
) STRICT, WITHOUT ROWID;

-- The last report of an agent about the tokens of a whole conversation; later runs are counted without them.
CREATE TABLE conversation_usage (
  task_id INTEGER NOT NULL, agent_session TEXT NOT NULL,
  tokens_in INTEGER NOT NULL, tokens_cached INTEGER NOT NULL, tokens_out INTEGER NOT NULL, cost_usd REAL,
  PRIMARY KEY (task_id, agent_session)
) STRICT, WITHOUT ROWID;
`;
