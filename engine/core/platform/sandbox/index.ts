export {
  findShownAs,
  hidePath,
  isHiding,
  type MountedPlace,
  showPath,
  sortByDepth,
} from './rules.ts';
export {
  describeUnavailable,
  type Sandbox,
  type SandboxFacts,
  type SandboxReader,
  type SandboxRun,
  type SandboxSource,
} from './sandbox.ts';
