/** Counters that are updated with every change, so that a board of many years is not read for counting. */
export const counts = `
-- How many tasks, decisions and deliveries there are of each state. Only deliveries are ever deleted.
CREATE TABLE state_count (
  of TEXT NOT NULL, state TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (of, state)
) STRICT, WITHOUT ROWID;
INSERT INTO state_count VALUES
  ('task', 'open', 0), ('task', 'assigned', 0), ('task', 'running', 0), ('task', 'done', 0), ('task', 'failed', 0),
  ('decision', 'pending', 0), ('decision', 'approved', 0), ('decision', 'denied', 0), ('decision', 'expired', 0),
  ('delivery', 'pending', 0), ('delivery', 'delivered', 0), ('delivery', 'dead', 0);
UPDATE state_count SET n = CASE of
  WHEN 'task' THEN (SELECT count(*) FROM task WHERE status = state_count.state)
  WHEN 'decision' THEN (SELECT count(*) FROM decision WHERE decision.state = state_count.state)
  ELSE (SELECT count(*) FROM delivery WHERE delivery.state = state_count.state) END;

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

-- What waits for a person in the order of its ids, without the many that are decided.
CREATE INDEX decision_pending ON decision (id) WHERE state = 'pending';
`;
