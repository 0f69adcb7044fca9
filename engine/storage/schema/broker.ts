/** Machines that have joined over a broker, and the invitations to do so. */
export const brokerSchema = `
ALTER TABLE runner ADD COLUMN certificate TEXT;
ALTER TABLE runner ADD COLUMN nkey TEXT;
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
