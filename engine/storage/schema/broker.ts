/** Machines that have joined over a broker, the invitations to do so, and how long a machine works without the engine. */
export const brokerSchema = `
ALTER TABLE runner ADD COLUMN certificate TEXT;
ALTER TABLE runner ADD COLUMN nkey TEXT;
ALTER TABLE runner ADD COLUMN lease_ms INTEGER;
CREATE TABLE fleet_invite (
  id TEXT PRIMARY KEY,
  password TEXT NOT NULL,
  secret TEXT NOT NULL,
  pool TEXT NOT NULL,
  name TEXT,
  most INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
`;
