/** Checks the work of an ended session in a clean checkout of it. */
export {
  type CommandsRun,
  createWorkChecks,
  type MachineChecker,
  type WorkChecks,
} from './check-work.ts';
export type { CheckedWork } from './clean-checkout.ts';
export type { CommandEnd } from './run-check.ts';
