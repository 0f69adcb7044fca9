export const calls = `
-- Calls that were given a key and have changed something, by who called: such a call sent again is answered from here, and
-- changes nothing. In the same transaction as the change. is_answer: value is the answer in wire form; else it is what the
-- call needs to go on. Until now each kind of thing had a key of its own, for some of them.
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
DROP TABLE answered;
DROP INDEX session_by_call;
DROP INDEX task_by_call;
ALTER TABLE session DROP COLUMN call_key;
ALTER TABLE task DROP COLUMN call_key;
`;
