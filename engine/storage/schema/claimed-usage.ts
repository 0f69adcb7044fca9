/** Usage outside the gateway, which only the agents report. */
export const claimedUsageSchema = `
-- The tokens that the task of a key had used outside the gateway when the key was issued.
ALTER TABLE virtual_key ADD COLUMN claimed_tokens INTEGER NOT NULL DEFAULT 0;
-- The reports about runs without calls through the gateway, by the UTC day on which the runs ended. unpriced: tokens of
-- runs without a reported cost.
CREATE TABLE claimed_day (
  day TEXT PRIMARY KEY,
  tokens_in INTEGER NOT NULL, tokens_cached INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
  cost_usd REAL, unpriced INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;
