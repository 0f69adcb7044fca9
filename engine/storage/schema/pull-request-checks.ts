/** The checks of pull requests, as they were seen last. */
export const pullRequestChecksSchema = `
-- checks: of the pushed commit; NULL if it has none or was not looked at. failed_check: the first that failed.
ALTER TABLE pull_request ADD COLUMN checks TEXT CHECK (checks IN ('pending','passed','failed'));
ALTER TABLE pull_request ADD COLUMN failed_check TEXT;
`;
