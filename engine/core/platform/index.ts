import { darwin } from './darwin/index.ts';
import { linux } from './linux/index.ts';
import type { Platform } from './platform.ts';

export { type Containment, type ContainmentKind, MARKS_ONLY, workspaceMark } from './containment.ts';
export type {
  KernelCalls,
  Platform,
  ProcessEntry,
  ProcessTable,
  TcpEnds,
} from './platform.ts';
export {
  describeUnavailable,
  findShownAs,
  hidePath,
  isHiding,
  type MountedPlace,
  type Sandbox,
  type SandboxFacts,
  type SandboxReader,
  type SandboxRun,
  type SandboxSource,
  showPath,
  sortByDepth,
} from './sandbox/index.ts';

/** The operating system of this machine; any other than macOS is treated as Linux. */
export const platform: Platform = process.platform === 'darwin' ? darwin : linux;
