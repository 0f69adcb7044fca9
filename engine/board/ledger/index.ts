import type { CallAuthor } from '../../core/api/operation.ts';
import { type Clock, rfc3339 } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { formatCount, toPrintable } from '../../core/base/text.ts';
import type { WorkspacePaths } from '../../core/workspace/workspace-path.ts';
import type { EventInput, EventLog, Storage } from '../../storage/index.ts';
import type { SessionPeers } from '../../workers/sessions/index.ts';
import { checkNotEnded, findEventScope } from '../holder.ts';

import { createClaimTable } from './claim-table.ts';
import type { LedgerItem } from './parse.ts';
import { readLedger } from './read.ts';
import type { Claim, ClaimRow, Ledger, ShownItem } from './rows.ts';

export { createLedgerGate, type LedgerGate } from './gate.ts';
export type { Claim, Ledger } from './rows.ts';

export interface LedgersDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  peers: Pick<SessionPeers, 'find'>;
  paths: WorkspacePaths;
  /** Lists sessions whose claims do not exclude a given session's. */
  rivalsOf(sessionId: string): readonly string[];
}

/** Owns the claims on ledger items. The files belong to people and agents; they are only read. */
export interface Ledgers {
  /**
   * Claims an item, or extends the holder's own claim, inside `storage.write`. Throws `not_found` (no such file or item),
   * `conflict` (already checked, or the holder has ended), `item_held` (a live session holds it).
   */
  claim(wanted: { holder: string; item: number; ledger: string; ttlMin: number }, by: CallAuthor): Claim;
  /** Releases a claim, inside `storage.write`; `*` is any holder. Throws `holder_mismatch`, `not_found`. */
  release(
    wanted: { holder: string; item: number; ledger: string },
    by: CallAuthor,
  ): { ledger: string; text: string };
  /** Throws `not_found` if there is no such file. */
  show(ledger: string): Ledger;
  /** Lists the claims on an item, with the item's text at that time: one, or several in a race. */
  claimsOn(ledger: string, item: number): { holder: string; text: string }[];
  /** Lists a holder's claims, oldest first. */
  claimsOf(holder: string): Pick<Claim, 'ledger' | 'item' | 'text'>[];
  /** Releases all claims of a holder that is gone, inside `storage.write`. */
  releaseAll(holder: string, why: string): void;
}

export function createLedgers({ storage, events, clock, peers, paths, rivalsOf }: LedgersDeps): Ledgers {
  const claims = createClaimTable(storage);

  /** Reports whether a claim has ended: with its session or its time. A claim of an unknown session lasts for its time. */
  const isHeld = (row: ClaimRow): boolean =>
    row.expires_at > clock.now() && peers.find(row.holder)?.state !== 'ended';

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
      releaseClaims(claims.removeExpired(now), 'it expired');
      const rows = claims.listOfItem(named.key, item);
      const before = rows.find((each) => each.holder === holder);
      const allowed = [holder, ...rivalsOf(holder)];
      const other = rows.find((each) => isHeld(each) && !allowed.includes(each.holder));
      if (other !== undefined) throw itemHeldError(other, entry);
      const over = rows.filter((each) => !isHeld(each) && each.holder !== holder);
      for (const each of over) claims.remove(each);
      releaseClaims(over, 'its session has ended');
      const row: ClaimRow = {
        ledger: named.key,
        item,
        text: entry.text,
        holder,
        claimed_at: before?.claimed_at ?? now,
        expires_at: now + ttlMin * 60_000,
      };
      claims.put(row);
      // Followers of events must not see the item's text.
      recordClaimEvent('item_claimed', row, { ...by, data: { extended: before !== undefined } });
      return { ledger: row.ledger, item, text: row.text, holder, expiresAt: rfc3339(row.expires_at) };
    },

    release({ holder, item, ledger }, by) {
      const { key } = paths.resolveNamed(ledger);
      const rows = claims.listOfItem(key, item).filter(isHeld);
      const row = rows.find((each) => each.holder === holder) ?? rows[0];
      if (row === undefined)
        throw notClaimedError(key, item, readLedger(paths.resolveNamed(ledger))?.items[item - 1]);
      if (holder !== '*' && row.holder !== holder) throw notClaimantError(row, holder);
      const released = holder === '*' ? rows : [row];
      for (const each of released) {
        claims.remove(each);
        recordClaimEvent('item_released', each, { ...by });
      }
      return { ledger: key, text: row.text };
    },

    show(ledger) {
      const named = paths.resolveNamed(ledger);
      const found = readLedger(named);
      if (found === null) throw ledgerNotFoundError(named.key);
      const byItem = Map.groupBy(claims.listOfLedger(named.key).filter(isHeld), ({ item }) => item);
      return {
        ledger: named.key,
        items: found.items.map((entry) => showItem(entry, byItem.get(entry.item))),
        clarify: {
          present: found.clarify.present,
          open: found.clarify.items.filter((entry) => !entry.checked).length,
        },
      };
    },

    claimsOn: (ledger, item) =>
      claims
        .listOfItem(paths.resolveNamed(ledger).key, item)
        .filter(isHeld)
        .map(({ holder, text }) => ({ holder, text })),

    claimsOf: (holder) =>
      claims
        .listOfHolder(holder)
        .filter(isHeld)
        .map(({ ledger, item, text }) => ({ ledger, item, text })),

    releaseAll(holder, why) {
      releaseClaims(claims.removeOf(holder), why);
    },
  };
}

function showItem(entry: LedgerItem, claims: readonly ClaimRow[] | undefined): ShownItem {
  if (claims === undefined) return { ...entry, holder: null, expiresAt: null, claimedTextDiffers: false };
  return {
    ...entry,
    holder: claims.map(({ holder }) => holder).join(', '),
    expiresAt: rfc3339(Math.max(...claims.map(({ expires_at }) => expires_at))),
    claimedTextDiffers: claims.some(({ text }) => text !== entry.text),
  };
}

const ITEMS_ARE = 'items are the lines with - [ ] or - [x], counted from 1, top to bottom';

/** Quotes an item's text for use in a sentence. */
export const quoteItem = (text: string): string => {
  const line = toPrintable(text);
  return JSON.stringify(line.length > 120 ? `${line.slice(0, 119).toWellFormed()}…` : line);
};

function notClaimedError(ledger: string, item: number, found: LedgerItem | undefined): SvcError {
  const named = found === undefined ? '' : ` (${quoteItem(found.text)})`;
  return new SvcError('not_found', `no one holds item ${item}${named} of ${toPrintable(ledger)}`, {
    hint: ITEMS_ARE,
    data: { ledger, item, text: found?.text ?? null },
  });
}

const notClaimantError = ({ ledger, item, text, holder: held_by }: ClaimRow, holder: string): SvcError =>
  new SvcError(
    'holder_mismatch',
    `item ${item} (${quoteItem(text)}) of ${toPrintable(ledger)} is held by ${held_by}, not by ${holder}`,
    { hint: `${held_by} can release it`, data: { ledger, item, text, held_by } },
  );

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
  throw new SvcError('not_found', `${toPrintable(key)} has ${has}, but no item ${item}`, {
    hint: ITEMS_ARE,
    data: { ledger: key, item, items: items.length },
  });
}

const itemCheckedError = (key: string, { item, line, text }: LedgerItem): SvcError =>
  new SvcError('conflict', `item ${item} of ${toPrintable(key)} is already checked: ${quoteItem(text)}`, {
    hint: `claim an open one; ${ITEMS_ARE}`,
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
