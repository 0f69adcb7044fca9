/** Removal of tasks, with their data, long after their end. */
export const retention = `
CREATE TRIGGER task_removed AFTER DELETE ON task BEGIN
  UPDATE state_count SET n = n - 1 WHERE of = 'task' AND state = OLD.status;
END;
CREATE TRIGGER decision_removed AFTER DELETE ON decision BEGIN
  UPDATE state_count SET n = n - 1 WHERE of = 'decision' AND state = OLD.state;
END;
-- What a removal asks for, by what is removed.
CREATE INDEX session_by_decision ON session (decision_id);
CREATE INDEX session_continues ON session (continues) WHERE continues IS NOT NULL;
CREATE INDEX receipt_by_task ON receipt (task_id);
CREATE INDEX virtual_key_by_session ON virtual_key (session_id);
`;
