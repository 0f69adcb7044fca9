export { heldPaths } from './held-paths.ts';
export { type Contributor, createHooks, type Hooks, type Moment } from './hooks.ts';
export { newMessages } from './new-messages.ts';
export { standing } from './standing.ts';
