export { findPauseMs } from './find-pause.ts';
export { createGithub, type Forge, type ForgePrograms } from './github.ts';
export { runPersonProgram } from './person-programs.ts';
export type { ForgeAnswer } from './read-answer.ts';
export { asObject, asText, listRows } from './read-json.ts';
