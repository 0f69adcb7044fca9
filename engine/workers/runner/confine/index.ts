export { type CommandConfinement, createCommandConfinement, type SessionCommand } from './commands.ts';
export {
  type Confinement,
  checkConfinement,
  createConfinement,
} from './confinement.ts';
export { realOf } from './paths.ts';
export { confineReader, listNodeFiles } from './reader.ts';
