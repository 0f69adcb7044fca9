export type { AdoptTarget } from './adopt.ts';
export { createCommands, type PrepareCommand } from './commands.ts';
export { ownersOfConnection, ownersOfPort, type TcpEnds } from './connection-owner.ts';
export {
  type Containment,
  type ContainmentKind,
  createContainment,
  workspaceMark,
} from './containment/index.ts';
export { workerEnvironment } from './environment.ts';
export { type LogPart, logWrittenAt, readLog, tailOffset } from './log.ts';
export { createLogWatch, type LogWatch, type LogWatchOptions } from './log-watch.ts';
export { ENGINE_MARK, MARK, type Probe, type ProcessEntry } from './probe.ts';
export { createProcesses, type Processes, type ProcessesDeps } from './processes.ts';
export { hidesOtherUsers, type ProcessName, type Standing } from './standing.ts';
export { type ExitResult, programOf, type RunningProcess, type StartSpec } from './start.ts';
export type { StopOptions, StopResult, StopTarget } from './stop.ts';
export { ALREADY_STARTED } from './wrapper.ts';
