/** How an agent is opened for a person in the sandbox that its runs had. */
export { createConfinement } from '../runner/confine/index.ts';
export { chooseTerminalGuard } from '../runner/confine/terminal.ts';
export { buildWorkerEnvironment } from '../runner/processes/index.ts';
