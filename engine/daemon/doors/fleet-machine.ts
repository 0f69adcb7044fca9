/** The part of the engine that runs on another machine for a board. */
export {
  connectMachine,
  leaveFleet,
  listJoinedFleets,
  loadJoinFleet,
  serveBoard,
  startMachine,
  trustCommands,
} from '../../fleet/machine/index.ts';
