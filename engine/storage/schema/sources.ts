/** The state of each source of `sources` after its last poll, as JSON. */
export const sourcesSchema = `
CREATE TABLE source_poll (source TEXT PRIMARY KEY, state TEXT NOT NULL, polled_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;
