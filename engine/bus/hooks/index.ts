export { listHeldPaths } from './held-paths.ts';
export { type Contributor, createHooks, type Hooks, type Moment, type PlannedWrite } from './hooks.ts';
export { listNewMessages } from './new-messages.ts';
export { requireSharedLocks } from './shared-paths.ts';
export { describeStanding } from './standing.ts';
