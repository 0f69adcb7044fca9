export const rivals = `
-- The rivals of a race may hold the same path and the same item, each for its own worktree.
CREATE TABLE rival_lock (
  path TEXT NOT NULL, holder TEXT NOT NULL, fence INTEGER NOT NULL, acquired_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  PRIMARY KEY (path, holder)
) STRICT, WITHOUT ROWID;
INSERT INTO rival_lock (path, holder, fence, acquired_at, expires_at)
  SELECT path, holder, fence, acquired_at, expires_at FROM lock;
DROP TABLE lock;
ALTER TABLE rival_lock RENAME TO lock;

CREATE TABLE rival_claim (
  ledger TEXT NOT NULL, item INTEGER NOT NULL, text TEXT NOT NULL,
  holder TEXT NOT NULL, claimed_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  PRIMARY KEY (ledger, item, holder)
) STRICT, WITHOUT ROWID;
INSERT INTO rival_claim (ledger, item, text, holder, claimed_at, expires_at)
  SELECT ledger, item, text, holder, claimed_at, expires_at FROM claim;
DROP TABLE claim;
ALTER TABLE rival_claim RENAME TO claim;
`;
