/** How the machines that run workers are reached, and which of them a session may use. */
export const fleetSchema = `
ALTER TABLE runner ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE runner ADD COLUMN via TEXT;
ALTER TABLE runner ADD COLUMN command TEXT NOT NULL DEFAULT '';
ALTER TABLE runner ADD COLUMN pool TEXT NOT NULL DEFAULT 'default';
ALTER TABLE runner ADD COLUMN most INTEGER NOT NULL DEFAULT 4;
ALTER TABLE runner ADD COLUMN drained_at INTEGER;
ALTER TABLE runner ADD COLUMN removed_at INTEGER;
ALTER TABLE session ADD COLUMN pool TEXT;
`;
