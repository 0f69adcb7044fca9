/** Posting one signed event to an address: what the outbox of a workspace and that of a linked server have in common. */
export { type Envelope, EVENT_NAMES, EVENTS, type OutboundEvent } from '../events.ts';
export { attemptDelivery, GIVE_UP_MS, idleMs, nextTryMs, type Outcome } from './attempt.ts';
export type { Secrets } from './signing.ts';
