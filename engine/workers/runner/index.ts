/** Acts on this machine: git worktrees, processes, sandboxes, setup; `runs/` is the one interface to all that for dispatch. */
export { createRunSockets, type RunSockets, type SeatOfRun } from './run-sockets.ts';
export { locatePrivateGit } from './worktrees/git/private-git.ts';
