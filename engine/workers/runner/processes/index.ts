export type { AdoptTarget } from './adopt.ts';
export { createCommands, type PrepareCommand } from './commands.ts';
export { createConnectionOwnerSearch, findPortOwners, type TcpEnds } from './connection-owner.ts';
export {
  type Containment,
  type ContainmentKind,
  createContainment,
  workspaceMark,
} from './containment/index.ts';
export { buildWorkerEnvironment } from './environment.ts';
export { findTailOffset, type ProcessLogPart, readLog, readLogTime } from './log.ts';
export { appendLogCopy } from './log-copy.ts';
export { createLogWatch, type LogWatch, type LogWatchOptions } from './log-watch.ts';
export { ENGINE_MARK, MARK, type ProcessEntry, type ProcessProbe } from './probe.ts';
export { createProcesses, type ProcessesDeps, type RunProcesses } from './processes.ts';
export { runShortCommand } from './run-short-command.ts';
export { type ExitResult, type RunningProcess, resolveProgram, type StartSpec } from './start.ts';
export type { StopOptions, StopResult, StopTarget } from './stop.ts';
export { hidesOtherUsers, type ProcessName, type ProcessOrigin } from './trace.ts';
export { ALREADY_STARTED } from './wrapper.ts';
