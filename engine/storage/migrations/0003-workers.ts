/** Reports of runs, resuming after a limit, repeated failures of agents, and the keys of runs for the gateway. */
export const workers = `
-- -1 low, 0 normal, 1 high: among what waits, the higher goes first.
ALTER TABLE task ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
-- When its session goes on, which has paused.
ALTER TABLE task ADD COLUMN resume_at INTEGER;
ALTER TABLE session ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;

-- A queued session with resume_at has paused: it waits for that time, with its worktree, because of pause_code.
ALTER TABLE session ADD COLUMN resume_at INTEGER;
ALTER TABLE session ADD COLUMN pause_code TEXT;
ALTER TABLE session ADD COLUMN pause_text TEXT;
-- How often its agent was started, when last, and where in the log the output of that run begins.
ALTER TABLE session ADD COLUMN runs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN run_started_at INTEGER;
ALTER TABLE session ADD COLUMN log_from INTEGER NOT NULL DEFAULT 0;
-- The ended session whose worktree and conversation it goes on with.
ALTER TABLE session ADD COLUMN continues INTEGER;
-- How its agent is spoken to, with whose credentials, and how confined.
ALTER TABLE session ADD COLUMN transport TEXT;
ALTER TABLE session ADD COLUMN auth TEXT;
ALTER TABLE session ADD COLUMN profile TEXT;
ALTER TABLE session ADD COLUMN token_budget INTEGER;
-- As the agent says it; tokens are sums over all its runs.
ALTER TABLE session ADD COLUMN agent_session TEXT;
ALTER TABLE session ADD COLUMN model TEXT;
ALTER TABLE session ADD COLUMN tokens_in INTEGER;
ALTER TABLE session ADD COLUMN tokens_cached INTEGER;
ALTER TABLE session ADD COLUMN tokens_out INTEGER;
ALTER TABLE session ADD COLUMN cost_usd REAL;
ALTER TABLE session ADD COLUMN tool_calls INTEGER;
-- The process of the person who is in it: it does not go on meanwhile.
ALTER TABLE session ADD COLUMN attach_pid INTEGER;
ALTER TABLE session ADD COLUMN attach_start TEXT;
-- Whatever was started before was started once.
UPDATE session SET runs = 1, run_started_at = started_at WHERE run_id IS NOT NULL;
CREATE INDEX session_attached ON session (id) WHERE attach_pid IS NOT NULL;
CREATE INDEX session_paused ON session (resume_at) WHERE resume_at IS NOT NULL;

-- Agents whose last runs failed for reasons of their own, one after the other. Nothing is started until reopen_at, then one at a time.
CREATE TABLE circuit (
  agent TEXT PRIMARY KEY,
  failures INTEGER NOT NULL,
  code TEXT NOT NULL, text TEXT NOT NULL,
  opened_at INTEGER, reopen_at INTEGER
) STRICT, WITHOUT ROWID;

-- Under which a run's calls reach the gateway: only the hash of the key is kept. limited_until is what a provider said.
CREATE TABLE virtual_key (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  session_id INTEGER NOT NULL, task_id INTEGER NOT NULL,
  budget_tokens INTEGER,
  limited_until INTEGER,
  created_at INTEGER NOT NULL, revoked_at INTEGER
) STRICT;
CREATE INDEX virtual_key_live ON virtual_key (session_id) WHERE revoked_at IS NULL;
`;
