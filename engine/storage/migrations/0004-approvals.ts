/** The inputs of an approval, the author of a task's text, and the time of a signature. */
export const approvals = `
-- What would run, as JSON of one version; hash is over both. Version 0 has none: it is of before this migration.
ALTER TABLE decision ADD COLUMN inputs TEXT;
ALTER TABLE decision ADD COLUMN inputs_version INTEGER NOT NULL DEFAULT 0;
-- What whoever dispatched it asked for beside that, as JSON.
ALTER TABLE decision ADD COLUMN options TEXT;
-- What differs from the decision whose place it took, as JSON.
ALTER TABLE decision ADD COLUMN changes TEXT;

-- Why the text is that of somebody whom nobody here has vouched for; NULL for anybody else.
ALTER TABLE task ADD COLUMN stranger TEXT;

-- The signed time, Unix ms; NULL where the scheme signs none. From here on expires_at is of the monotonic clock, under
-- the start of the machine that meta has as replay_boot.
ALTER TABLE replay ADD COLUMN signed_at INTEGER;
`;
