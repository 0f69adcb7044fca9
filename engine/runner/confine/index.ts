export type { CommandConfinement, SessionCommand } from './commands.ts';
export {
  type Confinement,
  type ConfinementDeps,
  type ConfinementHere,
  type ConfineSpec,
  checkConfinement,
  createConfinement,
} from './confinement.ts';
export { realOf } from './paths.ts';
