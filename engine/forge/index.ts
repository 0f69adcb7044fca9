export { createGithub, type Forge, type RunForgeProgram } from './github.ts';
export { runPersonProgram } from './person-programs.ts';
export type { ForgeAnswer } from './read-answer.ts';
