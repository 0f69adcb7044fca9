/** The daily figures for the linked server. */
export { telemetryOperations } from './operations.ts';
export { createTelemetry, type LinkTelemetry, type TierTokens } from './telemetry.ts';
