import type { By } from '../../api/operation.ts';
import { type Clock, rfc3339 } from '../../base/clock.ts';
import { SvcError } from '../../base/errors.ts';
import { formatCount, toPrintable } from '../../base/text.ts';
import type { Peers } from '../../sessions/index.ts';
import type { EventInput, EventLog, Storage } from '../../storage/index.ts';
import type { WorkspacePaths } from '../../workspace/workspace-path.ts';
import { checkNotEnded, findEventScope } from '../holder.ts';

import type { LedgerItem } from './parse.ts';
import { readLedger } from './read.ts';
import type { Claim, ClaimRow, Ledger, ShownItem } from './rows.ts';

export { createLedgerGate, type LedgerGate } from './gate.ts';
export type { Claim, Ledger } from './rows.ts';

export interface LedgersDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  peers: Pick<Peers, 'find'>;
  paths: WorkspacePaths;
}

/** Owns the claims on ledger items. The files belong to people and agents; they are only read. */
export interface Ledgers {
  /**
   * Claims an item, or extends the holder's own claim, inside `storage.write`. Throws `not_found` (no such file or item),
   * `conflict` (already checked, or the holder has ended), `item_held` (a live session holds it).
   */
  claim(wanted: { holder: string; item: number; ledger: string; ttlMin: number }, by: By): Claim;
  /** Releases a claim, inside `storage.write`; `*` is any holder. Throws `holder_mismatch`, `not_found`. */
  release(wanted: { holder: string; item: number; ledger: string }, by: By): { ledger: string; text: string };
  /** Throws `not_found` when there is no such file. */
  show(ledger: string): Ledger;
  /** The claim on an item, with the item's text at that time; null when nobody holds it or it does not exist. */
  claimOn(ledger: string, item: number): { holder: string; text: string } | null;
  /** What a holder has claimed, oldest first. */
  claimsOf(holder: string): Pick<Claim, 'ledger' | 'item' | 'text'>[];
  /** Releases all claims of a holder that is gone, inside `storage.write`. */
  releaseAll(holder: string, why: string): void;
}

export function createLedgers({ storage, events, clock, peers, paths }: LedgersDeps): Ledgers {
  const { db } = storage;
  const one = db.prepare<unknown[], ClaimRow>('SELECT * FROM claim WHERE ledger = ? AND item = ?');
  const ofLedger = db.prepare<unknown[], ClaimRow>('SELECT * FROM claim WHERE ledger = ?');
  const ofHolder = db.prepare<unknown[], ClaimRow>(
    'SELECT * FROM claim WHERE holder = ? ORDER BY claimed_at, ledger, item',
  );
  const put =
    db.prepare(`INSERT INTO claim (ledger, item, text, holder, claimed_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (ledger, item) DO UPDATE SET text = excluded.text, holder = excluded.holder,
    claimed_at = excluded.claimed_at, expires_at = excluded.expires_at`);
  const remove = db.prepare('DELETE FROM claim WHERE ledger = ? AND item = ?');
  const removeOf = db.prepare<unknown[], ClaimRow>('DELETE FROM claim WHERE holder = ? RETURNING *');
  const removeExpired = db.prepare<unknown[], ClaimRow>(
    'DELETE FROM claim WHERE expires_at <= ? RETURNING *',
  );

  /** A claim ends with its session or its time. That of an unknown session lasts for its time. */
  const isHeld = (row: ClaimRow | undefined): row is ClaimRow =>
    row !== undefined && row.expires_at > clock.now() && peers.find(row.holder)?.state !== 'ended';

  function recordClaimEvent(
    kind: 'item_claimed' | 'item_released',
    { ledger, item, holder, expires_at }: ClaimRow,
    more: Partial<EventInput>,
  ): void {
    const facts = { ledger, item, holder, expiresAt: rfc3339(expires_at) };
    events.append({ kind, ...findEventScope(peers, holder), ...more, data: { ...facts, ...more.data } });
  }

  /** Inside `storage.write`. */
  function releaseClaims(rows: readonly ClaimRow[], reason: string): void {
    for (const row of rows) recordClaimEvent('item_released', row, { via: 'engine', data: { reason } });
  }

  return {
    claim({ holder, item, ledger, ttlMin }, by) {
      checkNotEnded(peers, holder);
      const named = paths.resolveNamed(ledger);
      const entry = findItem(named.key, readLedger(named)?.items, item);
      if (entry.checked) throw itemCheckedError(named.key, entry);
      const now = clock.now();
      releaseClaims(removeExpired.all(now), 'its time was over');
      const before = one.get(named.key, item);
      if (isHeld(before) && before.holder !== holder) throw itemHeldError(before, entry);
      if (before !== undefined && before.holder !== holder) releaseClaims([before], 'its session has ended');
      const row: ClaimRow = {
        ledger: named.key,
        item,
        text: entry.text,
        holder,
        claimed_at: before?.holder === holder ? before.claimed_at : now,
        expires_at: now + ttlMin * 60_000,
      };
      put.run(row.ledger, row.item, row.text, row.holder, row.claimed_at, row.expires_at);
      // The item's text is not for those who only follow the events.
      recordClaimEvent('item_claimed', row, { ...by, data: { extended: before?.holder === holder } });
      return { ledger: row.ledger, item, text: row.text, holder, expiresAt: rfc3339(row.expires_at) };
    },

    release({ holder, item, ledger }, by) {
      const { key } = paths.resolveNamed(ledger);
      const row = one.get(key, item);
      if (!isHeld(row)) {
        const found = readLedger(paths.resolveNamed(ledger))?.items[item - 1] ?? null;
        const named = found === null ? '' : ` (${quoteItem(found.text)})`;
        throw new SvcError('not_found', `nobody holds item ${item}${named} of ${toPrintable(key)}`, {
          hint: ITEMS_ARE,
          data: { ledger: key, item, text: found?.text ?? null },
        });
      }
      if (holder !== '*' && row.holder !== holder) {
        throw new SvcError(
          'holder_mismatch',
          `item ${item} (${quoteItem(row.text)}) of ${toPrintable(key)} is held by ${row.holder}, not by ${holder}`,
          {
            hint: `${row.holder} can release it`,
            data: { ledger: key, item, text: row.text, held_by: row.holder },
          },
        );
      }
      remove.run(key, item);
      recordClaimEvent('item_released', row, { ...by });
      return { ledger: key, text: row.text };
    },

    show(ledger) {
      const named = paths.resolveNamed(ledger);
      const found = readLedger(named);
      if (found === null) throw ledgerNotFoundError(named.key);
      const claims = new Map(ofLedger.all(named.key).map((row) => [row.item, row]));
      return {
        ledger: named.key,
        items: found.items.map((entry): ShownItem => {
          const row = claims.get(entry.item);
          if (!isHeld(row)) return { ...entry, holder: null, expiresAt: null, claimedTextDiffers: false };
          const { holder, text, expires_at } = row;
          return {
            ...entry,
            holder,
            expiresAt: rfc3339(expires_at),
            claimedTextDiffers: text !== entry.text,
          };
        }),
        clarify: {
          present: found.clarify.present,
          open: found.clarify.items.filter((entry) => !entry.checked).length,
        },
      };
    },

    claimOn(ledger, item) {
      const row = one.get(paths.resolveNamed(ledger).key, item);
      return isHeld(row) ? { holder: row.holder, text: row.text } : null;
    },

    claimsOf: (holder) =>
      ofHolder
        .all(holder)
        .filter(isHeld)
        .map(({ ledger, item, text }) => ({ ledger, item, text })),

    releaseAll(holder, why) {
      releaseClaims(removeOf.all(holder), why);
    },
  };
}

const ITEMS_ARE = 'items are the lines with - [ ] or - [x], counted from 1, top to bottom';

/** Quotes an item's text for use in a sentence. */
export const quoteItem = (text: string): string => {
  const line = toPrintable(text);
  return JSON.stringify(line.length > 120 ? `${line.slice(0, 119).toWellFormed()}…` : line);
};

const ledgerNotFoundError = (key: string): SvcError =>
  new SvcError('not_found', `there is no ledger ${toPrintable(key)}`, {
    hint: "paths are relative to the workspace's folder",
    data: { ledger: key },
  });

function findItem(key: string, items: readonly LedgerItem[] | undefined, item: number): LedgerItem {
  if (items === undefined) throw ledgerNotFoundError(key);
  const found = items[item - 1];
  if (found !== undefined) return found;
  const has = formatCount(items.length, 'item');
  throw new SvcError('not_found', `${toPrintable(key)} has ${has} and no item ${item}`, {
    hint: ITEMS_ARE,
    data: { ledger: key, item, items: items.length },
  });
}

const itemCheckedError = (key: string, { item, line, text }: LedgerItem): SvcError =>
  new SvcError('conflict', `item ${item} of ${toPrintable(key)} is checked already: ${quoteItem(text)}`, {
    hint: `claim one that is open; ${ITEMS_ARE}`,
    data: { ledger: key, item, line, text },
  });

const itemHeldError = (row: ClaimRow, { text }: LedgerItem): SvcError =>
  new SvcError(
    'item_held',
    `item ${row.item} of ${toPrintable(row.ledger)} is held by ${row.holder} until ${rfc3339(row.expires_at)}: ${quoteItem(text)}`,
    {
      hint: 'claim another item',
      data: {
        ledger: row.ledger,
        item: row.item,
        text,
        holder: row.holder,
        held_by: row.holder,
        expires_at: rfc3339(row.expires_at),
        claimed_text_differs: row.text !== text,
      },
    },
  );
