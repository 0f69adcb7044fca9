/** Tasks that lists omit by default. */
export const archive = `
ALTER TABLE task ADD COLUMN archived_at INTEGER;
CREATE INDEX task_archived ON task (id) WHERE archived_at IS NOT NULL;
-- Of the tasks of each status, how many are archived.
INSERT INTO state_count VALUES
  ('archived', 'open', 0), ('archived', 'assigned', 0), ('archived', 'running', 0), ('archived', 'done', 0), ('archived', 'failed', 0);
CREATE TRIGGER task_archive_moved AFTER UPDATE OF status, archived_at ON task
WHEN OLD.archived_at IS NOT NULL OR NEW.archived_at IS NOT NULL BEGIN
  UPDATE state_count SET n = n - (OLD.archived_at IS NOT NULL) WHERE of = 'archived' AND state = OLD.status;
  UPDATE state_count SET n = n + (NEW.archived_at IS NOT NULL) WHERE of = 'archived' AND state = NEW.status;
END;
CREATE TRIGGER task_archive_removed AFTER DELETE ON task WHEN OLD.archived_at IS NOT NULL BEGIN
  UPDATE state_count SET n = n - 1 WHERE of = 'archived' AND state = OLD.status;
END;
`;
