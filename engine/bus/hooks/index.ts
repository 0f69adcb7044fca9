export { listHeldPaths } from './held-paths.ts';
export {
  createHooks,
  type HookContributor,
  type HookMoment,
  type PlannedWrite,
} from './hooks.ts';
export { listNewMessages } from './new-messages.ts';
export { requireSharedLocks } from './shared-paths.ts';
export { describeStanding } from './standing.ts';
