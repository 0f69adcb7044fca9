/** The program that runs on another machine for the board of a fleet. It has no database and no svc.yaml. */
export { connectMachine, startMachine } from './connect-machine.ts';
export { listJoinedFleets } from './joined-fleet.ts';
/** Loaded when a machine joins: it needs the packages of the broker. */
export const loadJoinFleet = () => import('./join-fleet.ts');
export { leaveFleet } from './leave-fleet.ts';
export { serveBoard } from './serve-board.ts';
export { trustCommands } from './trusted-commands.ts';
