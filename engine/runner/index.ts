export type { CleanCheckouts } from './clean-checkout.ts';
export { privateGitOf } from './private-git.ts';
export type { RunSocket, RunSockets, SeatOfRun } from './run-sockets.ts';
