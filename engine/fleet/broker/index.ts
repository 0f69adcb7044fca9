/** The broker by which machines are reached that ssh does not reach. Loaded by a fleet that has one. */
export { createBoardBroker } from './board-broker.ts';
