/** Opens an agent for a person in the sandbox of its runs. */
export { createConfinement } from '../runner/confine/index.ts';
export { chooseTerminalGuard } from '../runner/confine/terminal.ts';
export { buildWorkerEnvironment } from '../runner/processes/index.ts';
