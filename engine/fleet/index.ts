/** Other machines that run workers: which there are, and what may be sent there. Connections are loaded with the first one. */
export { createFleetAccess, type FleetAccess } from './access.ts';
export { locateBrokerFiles } from './broker/broker-paths.ts';
export { brokerOperations } from './broker-operations.ts';
export type { RunningBranch } from './fleet.ts';
export type { ListedRunner, RunnerInspection } from './operations.ts';
export { fleetOperations } from './operations.ts';
export { locateRemoteWorktrees } from './remote-folders.ts';
export type { SilentMachine } from './silence-alerts.ts';
export type { WaitingSession } from './waiting-alerts.ts';
