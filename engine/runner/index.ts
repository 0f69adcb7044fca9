export type { CleanCheckouts } from './clean-checkout.ts';
export { locatePrivateGit } from './private-git.ts';
export type { RunSocket, RunSockets, SeatOfRun } from './run-sockets.ts';
