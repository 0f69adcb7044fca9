import { platform } from '../../core/platform/index.ts';

/** Opens an agent for a person in the sandbox of its runs. */
export { createConfinement } from '../../workers/runner/confine/index.ts';
export { buildWorkerEnvironment } from '../../workers/runner/processes/index.ts';

/** Chooses what prevents a confined program from typing for its person; see `Sandbox`. */
export const chooseTerminalGuard = async (): Promise<Buffer | null> =>
  (await platform.sandbox.load()).chooseTerminalGuard();
