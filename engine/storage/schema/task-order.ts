/** The order of tasks, and the times at which tasks are created. */
export const taskOrderSchema = `
-- A task starts once the others are finished.
CREATE TABLE task_predecessor (
  task_id INTEGER NOT NULL, after_id INTEGER NOT NULL, PRIMARY KEY (task_id, after_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_predecessor_of ON task_predecessor (after_id);

-- A predecessor is finished once no worker of it lives, and its work is in its base: of its own session, or of a later one
-- that continued its branch. One without work, such as one that a person marked, is finished once it is done.
CREATE VIEW unfinished_predecessor AS
SELECT w.task_id, w.after_id FROM task_predecessor w
LEFT JOIN task p ON p.id = w.after_id LEFT JOIN session s ON s.id = p.session_id
WHERE EXISTS (SELECT 1 FROM session l WHERE l.task_id = p.id AND l.state <> 'ended')
  OR CASE WHEN s.inplace = 0 AND s.branch IS NOT NULL AND coalesce(s.commits, s.cwd IS NOT NULL) > 0
    THEN NOT EXISTS (SELECT 1 FROM session n WHERE n.branch = s.branch AND n.repository IS s.repository AND n.id >= s.id
      AND (n.promoted_at IS NOT NULL OR (n.branch_state = 'merged' AND NOT EXISTS (
        SELECT 1 FROM pull_request r WHERE r.session_id = n.id AND r.state = 'merged' AND r.in_base = 0))))
    ELSE p.status IS NOT 'done' END;

-- A task is created at each due time. zone: an IANA name. request: what it is created from, as JSON. considered_at: times up
-- to it are settled, Unix ms. last_task: the newest task. problem: why the last due time created none, NULL if it did.
CREATE TABLE schedule (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  cron TEXT NOT NULL, zone TEXT NOT NULL,
  title TEXT NOT NULL, request TEXT NOT NULL,
  created_at INTEGER NOT NULL, considered_at INTEGER NOT NULL,
  last_task INTEGER, problem TEXT
) STRICT;
`;
