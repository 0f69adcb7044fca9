/** What runs on another machine for the board of a fleet; it knows no database and no svc.yaml. */
export { connectMachine } from './connect-machine.ts';
export { leaveFleet } from './leave-fleet.ts';
export { serveBoard } from './serve-board.ts';
