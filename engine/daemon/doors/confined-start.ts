/** Opens an agent for a person in the sandbox of its runs. */
export { createConfinement } from '../../workers/runner/confine/index.ts';
export { chooseTerminalGuard } from '../../workers/runner/confine/terminal.ts';
export { buildWorkerEnvironment } from '../../workers/runner/processes/index.ts';
