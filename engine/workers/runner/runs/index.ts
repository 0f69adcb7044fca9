export { agentFolder, briefFile } from './folders.ts';
export { createLocalRunner } from './local-runner.ts';
export { createProjectReader } from './project-reader.ts';
export {
  type CollectOrder,
  type Committed,
  type Kept,
  type LogPart,
  NOTHING_KEPT,
  type Prepared,
  type ProjectReader,
  type RunExit,
  type RunName,
  type Runner,
  type RunResult,
  type RunTexts,
} from './runner.ts';
