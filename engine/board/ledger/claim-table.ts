import type { Storage } from '../../storage/index.ts';
import type { ClaimRow } from './rows.ts';

/** The claims as stored, including those that have ended. */
export interface ClaimTable {
  listOfItem(ledger: string, item: number): ClaimRow[];
  listOfLedger(ledger: string): ClaimRow[];
  /** Lists a holder's claims, oldest first. */
  listOfHolder(holder: string): ClaimRow[];
  put(row: ClaimRow): void;
  remove(row: ClaimRow): void;
  removeOf(holder: string): ClaimRow[];
  removeExpired(now: number): ClaimRow[];
}

export function createClaimTable({ db }: Pick<Storage, 'db'>): ClaimTable {
  const ofItem = db.prepare<unknown[], ClaimRow>(
    'SELECT * FROM claim WHERE ledger = ? AND item = ? ORDER BY claimed_at, holder',
  );
  const ofLedger = db.prepare<unknown[], ClaimRow>(
    'SELECT * FROM claim WHERE ledger = ? ORDER BY claimed_at, holder',
  );
  const ofHolder = db.prepare<unknown[], ClaimRow>(
    'SELECT * FROM claim WHERE holder = ? ORDER BY claimed_at, ledger, item',
  );
  const put =
    db.prepare(`INSERT INTO claim (ledger, item, text, holder, claimed_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (ledger, item, holder) DO UPDATE SET text = excluded.text, expires_at = excluded.expires_at`);
  const remove = db.prepare('DELETE FROM claim WHERE ledger = ? AND item = ? AND holder = ?');
  const removeOf = db.prepare<unknown[], ClaimRow>('DELETE FROM claim WHERE holder = ? RETURNING *');
  const removeExpired = db.prepare<unknown[], ClaimRow>(
    'DELETE FROM claim WHERE expires_at <= ? RETURNING *',
  );

  return {
    listOfItem: (ledger, item) => ofItem.all(ledger, item),
    listOfLedger: (ledger) => ofLedger.all(ledger),
    listOfHolder: (holder) => ofHolder.all(holder),
    put: (row) => void put.run(row.ledger, row.item, row.text, row.holder, row.claimed_at, row.expires_at),
    remove: ({ ledger, item, holder }) => void remove.run(ledger, item, holder),
    removeOf: (holder) => removeOf.all(holder),
    removeExpired: (now) => removeExpired.all(now),
  };
}
