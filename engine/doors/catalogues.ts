/** Meanings of codes and events, for help texts and docs. */
export { findFailure, SESSION_FAILURES } from '../agents/failures.ts';
export { ERROR_MEANINGS } from '../base/error-meanings.ts';
export { GUARD_PROFILES } from '../knowledge/guard/profiles.ts';
export { EVENTS } from '../notify/events.ts';
