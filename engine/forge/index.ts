export { createGithub, type Forge, type ForgePrograms } from './github.ts';
export { runPersonProgram } from './person-programs.ts';
export type { ForgeAnswer } from './read-answer.ts';
