/** Posting one signed event to an address: shared by the outboxes of a workspace and of a linked server. */
export { EVENT_NAMES, EVENT_WORDS, EVENTS, type EventEnvelope, type OutboundEvent } from '../events.ts';
export { attemptDelivery, GIVE_UP_MS, idleMs, nextTryMs, type SendOutcome } from './attempt.ts';
export type { SigningSecrets } from './signing.ts';
