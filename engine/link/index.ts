/** The link of a workspace to a server; operations without an engine are in `doors/linking.ts`. */

export { createLink, type Link } from './create-link.ts';
export { fetchLease } from './fetch-lease.ts';
export { type AccountLeases, createLeases } from './leases.ts';
export { linkOperations } from './operations.ts';
export type { LinkStatus } from './status.ts';
export { telemetryOperations } from './telemetry/index.ts';
