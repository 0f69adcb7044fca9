/** Meanings of codes and events, for help texts and docs. */

export { ERROR_MEANINGS } from '../../core/base/error-meanings.ts';
export { GUARD_PROFILES } from '../../knowledge/guard/profiles.ts';
export { EVENTS } from '../../notify/events.ts';
export { findFailure, SESSION_FAILURES } from '../../workers/agents/failures.ts';
