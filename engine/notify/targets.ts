import type { LoggedEvent } from '../storage/index.ts';
import type { OutboundEvent } from './events.ts';
import type { DeliveryRow } from './rows.ts';
import type { SendOutcome } from './sending/index.ts';

/** Sends events that are due, oldest first. Null when `signal` aborted it, since the outcome is then unknown. */
export type SendEvents = (
  rows: readonly [DeliveryRow, ...DeliveryRow[]],
  signal: AbortSignal,
) => Promise<SendOutcome | null>;

/** An entry of `notify.webhooks` or `notify.push`. */
export interface DeliveryTarget {
  /** Identifies it in the outbox: an address, or words without a secret. */
  key: string;
  /** Events that one attempt sends together. */
  mostAtOnce: number;
  /** True if its failure delays its other events: one message after the other. */
  isPaced: boolean;
  wants(event: LoggedEvent, kind: OutboundEvent): boolean;
  /** Builds what is stored for an event, inside its transaction. */
  buildBody(event: LoggedEvent, id: string): string;
  /** Returns when something that is due at a time is sent. */
  postpone(at: number): number;
  /** Reads the secrets; a clause if one is missing. */
  open(): { missing: string } | { send: SendEvents };
}
