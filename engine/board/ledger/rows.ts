import type { LedgerItem } from './parse.ts';

export interface ClaimRow {
  ledger: string;
  item: number;
  text: string;
  holder: string;
  claimed_at: number;
  expires_at: number;
}

/** An item that a session works on. Times are RFC 3339 UTC. */
export interface Claim {
  /** Relative to the workspace's folder. */
  ledger: string;
  item: number;
  text: string;
  holder: string;
  expiresAt: string;
}

/** An item, and who works on it. */
export interface ShownItem extends LedgerItem {
  /** Null when nobody has it now. */
  holder: string | null;
  expiresAt: string | null;
  /** It said something else when it was claimed: items may have moved. */
  claimedTextDiffers: boolean;
}

/** A ledger with its claims. */
export interface Ledger {
  ledger: string;
  items: ShownItem[];
  /** The section `## Clarify`: whether there is one, and how many of its items are open. */
  clarify: { present: boolean; open: number };
}
