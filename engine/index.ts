/**
 * The engine's one door. Clients need little of it, so what is heavy (configuration, storage, hosting) is loaded when
 * it is first used.
 */
import type { Engine, OpenOptions } from './compose.ts';
import type { Host } from './daemon/host.ts';

export type { Decision } from './board/decisions/index.ts';
export type { ListedDecision } from './board/decisions/operations.ts';
export type { Ledger } from './board/ledger/rows.ts';
export type { Lock } from './board/locks/rows.ts';
export type { HeldPath } from './board/locks/tools.ts';
export type { TaskPlan } from './board/plan.ts';
export type { Task } from './board/tasks/index.ts';
export type { ListedTask, TaskChoices } from './board/tasks/operations.ts';
export type { RerunResult, Verification, VerificationState } from './board/verify/rows.ts';
export { VERIFICATION_WORDS } from './board/verify/state.ts';
export type { Edited } from './board/workflow/index.ts';
export type { Ask } from './bus/asks/rows.ts';
export type { Message } from './bus/messages/rows.ts';
export type { Peer } from './bus/peers.ts';
export type { Session } from './bus/sessions/index.ts';
export type { Engine, OpenOptions } from './compose.ts';
export type { PendingKey } from './config/consent.ts';
export type { ConsentView } from './config/consent-view.ts';
export type { DifferenceLine } from './config/consent-words.ts';
export { findWorkspace } from './config/find.ts';
export type { FreeAddresses } from './config/free-addresses.ts';
export { nearest } from './config/nearest.ts';
export {
  type ConnectOptions,
  connect,
  type EngineClient,
  type Notification,
  notFromRun,
  type RunOptions,
} from './daemon/client.ts';
export type { Host } from './daemon/host.ts';
export type { EngineLink } from './daemon/mcp/link.ts';
export type { EngineStatus } from './daemon/operations.ts';
export { readRecord } from './daemon/record.ts';
export { asSvcError, CODES, type ErrorCode, EXIT, exitCode, httpStatus, SvcError } from './errors.ts';
export { hintForCommands } from './hints.ts';
export type { Delivery } from './notify/rows.ts';
export type { Wire } from './operation.ts';
export { type NextStep, outcomeOfSession, workLeftBy } from './outcome.ts';
export type { Access } from './receiver/serve.ts';
export type { LoggedEvent } from './storage/index.ts';
export {
  age,
  counted,
  cut,
  localTime,
  printable,
  printableJson,
  printableMessage,
  shellWord,
  withLocalTimes,
} from './text.ts';
export type { ToolDescription } from './tool.ts';
export { version } from './version.ts';
export type { Circuit as AgentCircuit } from './workers/dispatch/index.ts';
export type { ListedSession } from './workers/operations.ts';
export type { AgentHooks, HookEntry, HookLines } from './workers/presets/hooks.ts';
export type { GatewayRoute, HookEvent, McpServer } from './workers/presets/preset.ts';
export type { CarriedSetup } from './workers/setup/projects.ts';
export { carriedFacts, consentWords } from './workers/setup/words.ts';
export type { AcpError, AcpLine, AgentError, FoundError } from './workers/streams/acp.ts';
export type { EndCode } from './workers/streams/stream.ts';
export type { SessionTrial } from './workers/worktree-actions.ts';
export type { PromoteResult, PruneEntry, SessionWorktree } from './workers/worktrees/index.ts';
export { type SensitiveChange, sensitiveWords } from './workers/worktrees/sensitive.ts';
export { WORKTREE_STATES, type WorktreeState } from './workers/worktrees/states.ts';

/** Opens the whole system for the workspace of `options.file`; the caller is its only host until `close()`. */
export async function openEngine(options: OpenOptions): Promise<Engine> {
  return (await import('./compose.ts')).openEngine(options);
}

/** Lets clients of the socket and of loopback HTTP in. */
export async function hostEngine(engine: Engine): Promise<Host> {
  return (await import('./daemon/host.ts')).hostEngine(engine);
}

/** Everything about configuration: loading, keys, the example file. */
export const configuration = () => import('./config/index.ts');

/** Who this process is where no engine runs that could say. */
export const ownSeat = () => import('./workers/processes/own.ts');

/** Starting an engine in the background, and the supervisor that it has then. */
export const launching = () => import('./daemon/launch.ts');

/** What stands for a secret where the engine compares it. */
export const secretProof = () => import('./daemon/secrets.ts');

/** The catalogue of outbound events. */
export const outboundEvents = () => import('./notify/events.ts');

/** Signed sample requests, as `svc webhook test` sends them. */
export const samples = async () => ({
  ...(await import('./receiver/sample.ts')),
  ...(await import('./receiver/workspace-header.ts')),
});

/** What `svc doctor` asks about the parts that only the engine uses. */
export const health = () => import('./health.ts');

/** Whether workers can be confined here, and how one is opened for a person. */
export const confinement = async () => ({
  ...(await import('./workers/confine/index.ts')),
  ...(await import('./workers/confine/terminal.ts')),
  ...(await import('./workers/processes/environment.ts')),
});

/** The MCP server over an engine, for what bridges a client's pipe to it. */
export const mcpServer = async () => ({
  ...(await import('./daemon/mcp/server.ts')),
  ...(await import('./daemon/mcp/instructions.ts')),
  ...(await import('./daemon/mcp/message.ts')),
  ...(await import('./daemon/json-lines.ts')),
});

/** What projects carry for their worktrees, and whether that was agreed to on this machine. */
export const projectSetups = () => import('./workers/setup/projects.ts');

/** What agents may do without a person: `agents.permissions`. */
export const permissionPolicy = () => import('./workers/permissions.ts');

/** Codes of sessions that failed: why, and what to do next. */
export const sessionFailures = () => import('./workers/failures.ts');

/** The lines that a run on transport acp prints. */
export const acpStream = () => import('./workers/streams/acp.ts');

/** Agent presets, which of their programs are installed, and how one is started. */
export const presets = async () => ({
  ...(await import('./workers/presets/index.ts')),
  ...(await import('./workers/presets/ability.ts')),
  ...(await import('./workers/presets/detect.ts')),
  ...(await import('./workers/dispatch/write-anew.ts')),
  ...(await import('./workers/template.ts')),
  ...(await import('./workers/program.ts')),
});

/** What becomes of a data folder that this machine does not know; whether git tracks any of it. */
export const dataFolders = async () => ({
  ...(await import('./storage/adopt.ts')),
  ...(await import('./workers/worktrees/tracked.ts')),
  ...(await import('./data-folder.ts')),
  ...(await import('./daemon/socket-path.ts')),
});
