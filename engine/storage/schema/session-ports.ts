/** port: the free port of the session's worktree, `SVC_PORT`; null without a worktree. */
export const sessionPortsSchema = `
ALTER TABLE session ADD COLUMN port INTEGER;
CREATE INDEX session_port ON session (port) WHERE worktree IS NOT NULL;
`;
