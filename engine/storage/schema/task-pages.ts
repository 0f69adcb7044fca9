/** Where the issue or comment of a task is on the web, and what its author is in that repository, as the code host says. */
export const taskPagesSchema = `
ALTER TABLE task ADD COLUMN source_url TEXT;
ALTER TABLE task ADD COLUMN author_role TEXT;
`;
