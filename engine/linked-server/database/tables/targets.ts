import type { Selectable } from 'kysely';
import { ADDONS } from '../../../core/link-protocol/capabilities.ts';

/** A target for events of an account: a catch URL of a tool, or any address. */
export const TARGET_KINDS = [...ADDONS, 'webhook'] as const;
export type TargetKind = (typeof TARGET_KINDS)[number];

/** The reason why a target is paused until someone resumes it: it answered 410, or failed for a day. */
export type PauseReason = 'gone' | 'failing';

interface TargetTable {
  id: string;
  account_id: string;
  kind: TargetKind;
  /** The kind for targets that exist once per account, otherwise the id: unique within the account. */
  slot: string;
  name: string;
  /** Encrypted, since anyone with a catch URL may post to it. */
  url: string;
  /** The form for pages. */
  shown_url: string;
  /** JSON: names of events. */
  events: string;
  /** JSON: ids of workspaces; null for all. */
  workspaces: string;
  is_on: number;
  /** Encrypted. */
  secret: string;
  /** The previous one, encrypted; also signs until `old_until`. */
  old_secret: string | null;
  old_until: number | null;
  paused_at: number | null;
  paused_why: PauseReason | null;
  /** The first failure since the last delivery. */
  failing_since: number | null;
  created_at: number;
}

export const DELIVERY_STATES = ['waiting', 'delivered', 'dead'] as const;
export type TargetDeliveryState = (typeof DELIVERY_STATES)[number];

interface DeliveryTable {
  /** Increases with time. */
  id: number;
  target_id: string;
  account_id: string;
  workspace_id: string;
  workspace: string;
  event: string;
  /** The same for every attempt and every target. */
  message_id: string;
  body: string;
  state: TargetDeliveryState;
  tries: number;
  created_at: number;
  /** When its 24 hours of attempts started. */
  first_at: number;
  next_at: number;
  tried_at: number | null;
  last_status: number | null;
  /** Duration of the last attempt, ms. */
  last_ms: number | null;
  last_error: string | null;
}

/** Targets of an account's events, and deliveries to them. */
export interface TargetTables {
  targets: TargetTable;
  deliveries: DeliveryTable;
}

export type TargetRow = Selectable<TargetTable>;
export type TargetDeliveryRow = Selectable<DeliveryTable>;
