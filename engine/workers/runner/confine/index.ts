export { type CommandConfinement, createCommandConfinement, type SessionCommand } from './commands.ts';
export {
  type Confinement,
  checkConfinement,
  confineReader,
  createConfinement,
} from './confinement.ts';
