/** Duration of a run, cost of its conversation so far, and number of pauses without progress. */
export const runs = `
-- Of the clock that is never set and does not count while the machine sleeps, ms; it holds until the machine starts anew.
ALTER TABLE session ADD COLUMN run_started_monotonic INTEGER;
-- Pauses in a row, each after a run that did nothing.
ALTER TABLE session ADD COLUMN idle_pauses INTEGER NOT NULL DEFAULT 0;

-- What an agent has told last of the tokens of a whole conversation, which later runs are counted without.
CREATE TABLE conversation_usage (
  task_id INTEGER NOT NULL, agent_session TEXT NOT NULL,
  tokens_in INTEGER NOT NULL, tokens_cached INTEGER NOT NULL, tokens_out INTEGER NOT NULL, cost_usd REAL,
  PRIMARY KEY (task_id, agent_session)
) STRICT, WITHOUT ROWID;
INSERT INTO conversation_usage
  SELECT task_id, agent_session, sum(tokens_in), sum(coalesce(tokens_cached, 0)), sum(coalesce(tokens_out, 0)), sum(cost_usd)
  FROM session WHERE agent_session IS NOT NULL AND tokens_in IS NOT NULL GROUP BY task_id, agent_session;
`;
