/** The newer memory that may replace one: found when it was stored, for people and agents to judge. */
export const memorySuccessorsSchema = `
ALTER TABLE memory ADD COLUMN maybe_replaced_by TEXT;
CREATE INDEX memory_successors ON memory (maybe_replaced_by) WHERE maybe_replaced_by IS NOT NULL;
`;
