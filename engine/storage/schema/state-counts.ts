/** Counters that are updated with every change, so that counting does not read a board of many years. */
export const stateCountsSchema = `
-- Numbers of tasks, decisions, deliveries and archived tasks by state.
CREATE TABLE state_count (
  of TEXT NOT NULL, state TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (of, state)
) STRICT, WITHOUT ROWID;
INSERT INTO state_count VALUES
  ('task', 'open', 0), ('task', 'assigned', 0), ('task', 'running', 0), ('task', 'done', 0), ('task', 'failed', 0),
  ('archived', 'open', 0), ('archived', 'assigned', 0), ('archived', 'running', 0), ('archived', 'done', 0),
  ('archived', 'failed', 0),
  ('decision', 'pending', 0), ('decision', 'approved', 0), ('decision', 'denied', 0), ('decision', 'expired', 0),
  ('delivery', 'pending', 0), ('delivery', 'delivered', 0), ('delivery', 'dead', 0);

CREATE TRIGGER task_added AFTER INSERT ON task BEGIN
  UPDATE state_count SET n = n + 1 WHERE of = 'task' AND state = NEW.status;
END;
CREATE TRIGGER task_moved AFTER UPDATE OF status ON task WHEN NEW.status <> OLD.status BEGIN
  UPDATE state_count SET n = n - 1 WHERE of = 'task' AND state = OLD.status;
  UPDATE state_count SET n = n + 1 WHERE of = 'task' AND state = NEW.status;
END;
CREATE TRIGGER decision_added AFTER INSERT ON decision BEGIN
  UPDATE state_count SET n = n + 1 WHERE of = 'decision' AND state = NEW.state;
END;
CREATE TRIGGER decision_moved AFTER UPDATE OF state ON decision WHEN NEW.state <> OLD.state BEGIN
  UPDATE state_count SET n = n - 1 WHERE of = 'decision' AND state = OLD.state;
  UPDATE state_count SET n = n + 1 WHERE of = 'decision' AND state = NEW.state;
END;
CREATE TRIGGER delivery_added AFTER INSERT ON delivery BEGIN
  UPDATE state_count SET n = n + 1 WHERE of = 'delivery' AND state = NEW.state;
END;
CREATE TRIGGER delivery_moved AFTER UPDATE OF state ON delivery WHEN NEW.state <> OLD.state BEGIN
  UPDATE state_count SET n = n - 1 WHERE of = 'delivery' AND state = OLD.state;
  UPDATE state_count SET n = n + 1 WHERE of = 'delivery' AND state = NEW.state;
END;
CREATE TRIGGER delivery_removed AFTER DELETE ON delivery BEGIN
  UPDATE state_count SET n = n - 1 WHERE of = 'delivery' AND state = OLD.state;
END;
CREATE TRIGGER task_archive_moved AFTER UPDATE OF status, archived_at ON task
WHEN OLD.archived_at IS NOT NULL OR NEW.archived_at IS NOT NULL BEGIN
  UPDATE state_count SET n = n - (OLD.archived_at IS NOT NULL) WHERE of = 'archived' AND state = OLD.status;
  UPDATE state_count SET n = n + (NEW.archived_at IS NOT NULL) WHERE of = 'archived' AND state = NEW.status;
END;
CREATE TRIGGER task_archive_removed AFTER DELETE ON task WHEN OLD.archived_at IS NOT NULL BEGIN
  UPDATE state_count SET n = n - 1 WHERE of = 'archived' AND state = OLD.status;
END;
CREATE TRIGGER task_removed AFTER DELETE ON task BEGIN
  UPDATE state_count SET n = n - 1 WHERE of = 'task' AND state = OLD.status;
END;
CREATE TRIGGER decision_removed AFTER DELETE ON decision BEGIN
  UPDATE state_count SET n = n - 1 WHERE of = 'decision' AND state = OLD.state;
END;
`;
