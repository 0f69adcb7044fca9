export const memoryBriefs = `
-- Of each session, what its worker was given of the memory when it last began.
CREATE TABLE memory_briefs (
  session_id TEXT PRIMARY KEY,
  task_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  -- Ids of memories, JSON, in the order of the file.
  ids TEXT NOT NULL,
  bytes INTEGER NOT NULL
);
CREATE INDEX memory_briefs_newest ON memory_briefs (at);
`;
