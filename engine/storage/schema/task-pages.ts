/** The web page of a task's issue or comment, and its author's role in that repository by the code host. */
export const taskPagesSchema = `
ALTER TABLE task ADD COLUMN source_url TEXT;
ALTER TABLE task ADD COLUMN author_role TEXT;
`;
