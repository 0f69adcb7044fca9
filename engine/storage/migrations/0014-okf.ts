export const okf = `
-- Of a memory that was imported: where its file lay in its folder, and its frontmatter (YAML) when an export would not write the same.
ALTER TABLE memory ADD COLUMN okf_path TEXT;
ALTER TABLE memory ADD COLUMN okf_frontmatter TEXT;
-- An import asks of every file whether it is known, also as something that has ended.
DROP INDEX memory_digest;
CREATE INDEX memory_content ON memory (digest);
`;
