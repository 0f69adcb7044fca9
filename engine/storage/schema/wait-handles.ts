/** Handles of calls that wait: their clients ask for the result later, also after a restart of the engine. */
export const waitHandlesSchema = `
-- owner: who may ask for it. key: the call, which every engine continues. result: JSON; null while the call waits.
CREATE TABLE wait_handle (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  tool TEXT NOT NULL,
  input TEXT NOT NULL,
  key TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('working', 'completed', 'failed', 'cancelled')),
  message TEXT NOT NULL,
  result TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (owner, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX wait_handle_ended ON wait_handle (updated_at) WHERE state <> 'working';
`;
