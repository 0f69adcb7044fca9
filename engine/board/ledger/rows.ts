import type { LedgerItem } from './parse.ts';

export interface ClaimRow {
  ledger: string;
  item: number;
  text: string;
  holder: string;
  claimed_at: number;
  expires_at: number;
}

/** A session's claim on an item. Times are RFC 3339 UTC. */
export interface Claim {
  /** Relative to the workspace's folder. */
  ledger: string;
  item: number;
  text: string;
  holder: string;
  expiresAt: string;
}

/** An item with its claim. */
export interface ShownItem extends LedgerItem {
  /** Null if it is not claimed; several competitors of a race separated by commas. */
  holder: string | null;
  expiresAt: string | null;
  /** True if its text has changed since it was claimed: items may have moved. */
  claimedTextDiffers: boolean;
}

/** A ledger with its claims. */
export interface Ledger {
  ledger: string;
  items: ShownItem[];
  /** The section `## Clarify`: its existence, and its number of open items. */
  clarify: { present: boolean; open: number };
}
