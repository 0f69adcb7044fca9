/** What runs on another machine for a board. */
export { connectMachine, leaveFleet, serveBoard } from '../../fleet/machine/index.ts';
