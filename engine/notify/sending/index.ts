/** Posting one signed event to an address: shared by the outboxes of a workspace and of a linked server. */
export { type Envelope, EVENT_NAMES, EVENTS, type OutboundEvent } from '../events.ts';
export { attemptDelivery, GIVE_UP_MS, idleMs, nextTryMs, type Outcome } from './attempt.ts';
export type { Secrets } from './signing.ts';
