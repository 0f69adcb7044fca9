export { clearWorktree } from './clear-worktree.ts';
export { countBranch } from './count-branch.ts';
export { findWorktreePort } from './find-worktree-port.ts';
export { agentFolder, briefFile } from './folders.ts';
export { createLocalRunner } from './local-runner.ts';
export { createProjectReader } from './project-reader.ts';
export { createRunnerRouter } from './router.ts';
export {
  type CollectOrder,
  type CommitResult,
  type KeptWorktree,
  type LogPart,
  type MachineRunner,
  NOTHING_KEPT,
  type PreparedRun,
  type ProjectReader,
  type RunExit,
  type RunName,
  type Runner,
  type RunOrigin,
  type RunResult,
  type RunTexts,
} from './runner.ts';
