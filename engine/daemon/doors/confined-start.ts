/** How an agent is opened for a person in the sandbox that its runs had. */
export { createConfinement } from '../../workers/runner/confine/index.ts';
export { chooseTerminalGuard } from '../../workers/runner/confine/terminal.ts';
export { buildWorkerEnvironment } from '../../workers/runner/processes/index.ts';
