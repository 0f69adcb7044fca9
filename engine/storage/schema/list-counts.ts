/** Counters and an index for lists whose cost must not grow with the rows that they leave out. */
export const listCountsSchema = `
INSERT INTO state_count VALUES ('ask', 'open', 0), ('ask', 'answered', 0), ('ask', 'timeout', 0);
UPDATE state_count SET n = (SELECT count(*) FROM ask WHERE status = state) WHERE of = 'ask';
-- Active memories by type.
INSERT INTO state_count SELECT 'memory', type, count(*) FROM memory WHERE state = 'active' GROUP BY type;

CREATE TRIGGER ask_added AFTER INSERT ON ask BEGIN
  UPDATE state_count SET n = n + 1 WHERE of = 'ask' AND state = NEW.status;
END;
CREATE TRIGGER ask_moved AFTER UPDATE OF status ON ask WHEN NEW.status <> OLD.status BEGIN
  UPDATE state_count SET n = n - 1 WHERE of = 'ask' AND state = OLD.status;
  UPDATE state_count SET n = n + 1 WHERE of = 'ask' AND state = NEW.status;
END;
CREATE TRIGGER ask_removed AFTER DELETE ON ask BEGIN
  UPDATE state_count SET n = n - 1 WHERE of = 'ask' AND state = OLD.status;
END;
CREATE TRIGGER memory_added AFTER INSERT ON memory WHEN NEW.state = 'active' BEGIN
  INSERT INTO state_count VALUES ('memory', NEW.type, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER memory_moved AFTER UPDATE OF state, type ON memory
WHEN NEW.state <> OLD.state OR NEW.type <> OLD.type BEGIN
  UPDATE state_count SET n = n - (OLD.state = 'active') WHERE of = 'memory' AND state = OLD.type;
  INSERT INTO state_count VALUES ('memory', NEW.type, NEW.state = 'active')
    ON CONFLICT DO UPDATE SET n = n + (NEW.state = 'active');
END;
CREATE TRIGGER memory_removed AFTER DELETE ON memory WHEN OLD.state = 'active' BEGIN
  UPDATE state_count SET n = n - 1 WHERE of = 'memory' AND state = OLD.type;
END;

CREATE INDEX ask_by_recipient ON ask (to_session);
`;
