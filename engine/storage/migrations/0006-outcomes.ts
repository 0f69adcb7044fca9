export const outcomes = `
-- At which commit svc ran the reported tests again; since when it is to do so by itself; why it could not.
ALTER TABLE verification ADD COLUMN rerun_head TEXT;
ALTER TABLE verification ADD COLUMN rerun_due INTEGER;
ALTER TABLE verification ADD COLUMN rerun_problem TEXT;
CREATE INDEX verification_due ON verification (rerun_due) WHERE rerun_due IS NOT NULL;
-- What the worker itself said of its task: done or failed.
ALTER TABLE session ADD COLUMN own_word TEXT;
`;
