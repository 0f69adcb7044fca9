export const races = `
-- Several sessions that work on one task from the same commit, of which one is promoted. open: nobody has chosen yet;
-- promoted: one was; lost: none ended well; cancelled: the task was.
CREATE TABLE race (
  id INTEGER PRIMARY KEY,
  task_id INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open','promoted','lost','cancelled')),
  -- From which all begin; NULL until the first of them does.
  base_commit TEXT,
  -- The session that was promoted.
  winner INTEGER,
  created_at INTEGER NOT NULL, ended_at INTEGER
) STRICT;
CREATE INDEX race_by_task ON race (task_id);
CREATE UNIQUE INDEX race_one_open ON race (task_id) WHERE state = 'open';
-- The race that is open on a task: nothing else is dispatched for it.
ALTER TABLE task ADD COLUMN race INTEGER;
ALTER TABLE session ADD COLUMN race INTEGER;
CREATE INDEX session_by_race ON session (race) WHERE race IS NOT NULL;
-- Another one of its race was promoted: it is discarded as soon as it has ended.
ALTER TABLE session ADD COLUMN discard_due INTEGER NOT NULL DEFAULT 0;
CREATE INDEX session_discard_due ON session (id) WHERE discard_due = 1;
DROP INDEX session_one_live;
-- One live session per task, or per place in a race.
CREATE UNIQUE INDEX session_one_live ON session (task_id) WHERE state <> 'ended' AND race IS NULL;
`;
