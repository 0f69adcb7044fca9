/** The daily figures for the linked server. */
export type { TierTokens } from './day-body.ts';
export { telemetryOperations } from './operations.ts';
export { createTelemetry, type LinkTelemetry } from './telemetry.ts';
