import type { Selectable } from 'kysely';
import { ADDONS } from '../../../core/link-protocol/capabilities.ts';

/** Where events of an account go: a catch URL of each tool, or any address. */
export const TARGET_KINDS = [...ADDONS, 'webhook'] as const;
export type TargetKind = (typeof TARGET_KINDS)[number];

/** Why nothing is sent to a target until somebody resumes it: it answered 410, or failed for a day. */
export type PauseReason = 'gone' | 'failing';

interface TargetTable {
  id: string;
  account_id: string;
  kind: TargetKind;
  /** The kind of what an account has one of, else the id: unique within the account. */
  slot: string;
  name: string;
  /** Encrypted, since who knows a catch URL may post to it. */
  url: string;
  /** As pages show it. */
  shown_url: string;
  /** JSON: names of events. */
  events: string;
  /** JSON: ids of workspaces; null means all. */
  workspaces: string;
  is_on: number;
  /** Encrypted. */
  secret: string;
  /** The one before, encrypted; signs as well until `old_until`. */
  old_secret: string | null;
  old_until: number | null;
  paused_at: number | null;
  paused_why: PauseReason | null;
  /** The first failure since something was delivered last. */
  failing_since: number | null;
  created_at: number;
}

export const DELIVERY_STATES = ['waiting', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

interface DeliveryTable {
  /** Grows with time. */
  id: number;
  target_id: string;
  account_id: string;
  workspace_id: string;
  workspace: string;
  event: string;
  /** The same on every try and at every target. */
  message_id: string;
  body: string;
  state: DeliveryState;
  tries: number;
  created_at: number;
  /** When its 24 hours of tries began. */
  first_at: number;
  next_at: number;
  tried_at: number | null;
  last_status: number | null;
  /** How long the last try took, ms. */
  last_ms: number | null;
  last_error: string | null;
}

/** Where events of an account go, and what was sent there. */
export interface TargetTables {
  targets: TargetTable;
  deliveries: DeliveryTable;
}

export type Target = Selectable<TargetTable>;
export type DeliveryRow = Selectable<DeliveryTable>;
