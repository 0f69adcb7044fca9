/**
 * The engine's one door. Clients need little of it, so heavy parts (configuration, storage, hosting) are loaded on
 * first use.
 */
import type { Engine, OpenOptions } from './compose.ts';
import type { Host } from './daemon/host.ts';

export type { Circuit as AgentCircuit } from './agents/index.ts';
export type { HookEvent } from './agents/presets/hook-event.ts';
export type { AgentHooks, HookEntry, HookLines } from './agents/presets/hooks.ts';
export type { GatewayRoute, McpServer } from './agents/presets/preset.ts';
export { READING_WORDS, type ReadingTime } from './agents/reading-time.ts';
export type { AcpError, AcpLine, AgentError, FoundError } from './agents/streams/acp.ts';
export type { EndCode } from './agents/streams/stream.ts';
export type { Wire } from './api/operation.ts';
export type { ToolDescription } from './api/tool.ts';
export type { ToolAnswer } from './api/tool-operations.ts';
export { type Reader, renderWords } from './api/words.ts';
export { writeFileAtomically } from './base/atomic-file.ts';
export { backoffMs } from './base/backoff.ts';
export { renderBar, renderSparkline } from './base/charts.ts';
export { usesColour } from './base/colours.ts';
export { isDoNotTrackSet } from './base/do-not-track.ts';
export {
  asSvcError,
  CODES,
  type ErrorCode,
  EXIT,
  isErrorCode,
  SvcError,
  toExitCode,
  toHttpStatus,
} from './base/errors.ts';
export { locateProgram, version } from './base/own-package.ts';
export { isInsideFolder } from './base/paths.ts';
export { readProgram, runProgram } from './base/run-program.ts';
export { type Mention, nameCommand, Sentence, sentence, type Words } from './base/sentence.ts';
export { createSerialQueue } from './base/serial-queue.ts';
export {
  isPausedRun,
  nameSessionState,
  nameTaskState,
  OTHER_WORDS,
  SESSION_WORDS,
  TASK_WORDS,
  WORKSPACE_WORDS,
  type WorkspaceWord,
} from './base/state-words.ts';
export {
  countUnseen,
  cutToWidth,
  describeUnseen,
  formatAge,
  formatCount,
  formatDollars,
  formatElapsed,
  formatLocalTime,
  formatTokenCount,
  keepLastState,
  localizeTimes,
  quoteForShell,
  renderLog,
  renderLogLine,
  toPrintable,
  toPrintableJson,
  toPrintableMessage,
} from './base/text.ts';
export type { DiffComment } from './board/comments/rows.ts';
export { type FollowUpMaterial, writeFollowUpMessage } from './board/comments/write-follow-up.ts';
export type { Decision } from './board/decisions/index.ts';
export type { ListedDecision } from './board/decisions/operations.ts';
export type { Ledger } from './board/ledger/rows.ts';
export type { Lock } from './board/locks/rows.ts';
export type { HeldPath } from './board/locks/tools.ts';
export type { TaskPlan } from './board/plan.ts';
export type { Race, RaceState } from './board/races/index.ts';
export type { Racer } from './board/races/operations.ts';
export type { Task } from './board/tasks/index.ts';
export type { ListedTask, TaskChoices } from './board/tasks/operations.ts';
export type { RerunResult, Verification, VerificationState } from './board/verify/rows.ts';
export { selectRerunCommands, VERIFICATION_WORDS } from './board/verify/state.ts';
export type { Edited } from './board/workflow/index.ts';
export type { Ask } from './bus/asks/rows.ts';
export type { Message } from './bus/messages/rows.ts';
export type { Api, Engine, OpenOptions } from './compose.ts';
export type { PendingKey } from './config/consent.ts';
export type { ConsentView } from './config/consent-view.ts';
export type { DifferenceLine } from './config/consent-words.ts';
export type { FreeAddresses } from './config/free-addresses.ts';
export {
  type ApiInput,
  type ConnectOptions,
  connectToEngine,
  type EngineClient,
  mayNotStartError,
  type Notification,
  type RunOptions,
} from './daemon/client.ts';
export type { Host } from './daemon/host.ts';
export type { EngineLink } from './daemon/mcp/link.ts';
export type { KnownPullRequest, ListedSession } from './dispatch/operations.ts';
export type { DayUsage, GatewayState, NamedUsage } from './gateway/index.ts';
export { describeCopyType } from './knowledge/guard/describe-copy.ts';
export { describeLanguage } from './knowledge/guard/describe-language.ts';
export { formatImpact } from './knowledge/symbols/format-impact.ts';
export { describeLink, describeLinkState, isLinkTroubled, type LinkFacts } from './link/describe.ts';
export type { LinkStatus } from './link/status.ts';
export type { TelemetryView } from './link/telemetry/view.ts';
export type { Delivery } from './notify/rows.ts';
export type { EngineStatus } from './operations.ts';
export type { Access } from './receiver/serve.ts';
export type { PullRequestMaterial } from './review/pull-requests/operations.ts';
export {
  buildPullRequest,
  buildView,
  chooseRemote,
  guessProgram,
  PULL_REQUEST_PROGRAMS,
  type PullRequestProgram,
  readCreated,
  readState,
  type ToldPullRequest,
} from './review/pull-requests/programs.ts';
export type { SessionTrial } from './review/worktree-actions.ts';
export { describeConsent, listSetupFacts } from './runner/setup/consent-text.ts';
export type { ProjectSetup } from './runner/setup/projects.ts';
export type { PromoteResult, PruneEntry, SessionWorktree } from './runner/worktrees/index.ts';
export { describeSensitive, type SensitiveChange } from './runner/worktrees/sensitive.ts';
export { WORKTREE_STATES, type WorktreeState } from './runner/worktrees/states.ts';
export type { Session } from './sessions/index.ts';
export { type NextStep, outcomeOfSession, workLeftBy } from './sessions/outcome.ts';
export type { Peer } from './sessions/peers.ts';
export {
  describeFigures,
  describeQueue,
  describeReach,
  describeRework,
  describeSuccess,
  foldValues,
  type StatsFact,
} from './stats/describe.ts';
export type { Figures, StatsDay, StatsReport } from './stats/index.ts';
export type { LoggedEvent } from './storage/index.ts';
export { readDaemonRecord } from './workspace/daemon-record.ts';
export { findWorkspace } from './workspace/find.ts';
export type { RegisteredWorkspace } from './workspace/registry.ts';

/** Opens the whole system for the workspace of `options.file`; the caller is its only host until `close()`. */
export async function openEngine(options: OpenOptions): Promise<Engine> {
  return (await import('./compose.ts')).openEngine(options);
}

/** Admits clients of the socket and of loopback HTTP. */
export async function hostEngine(engine: Engine): Promise<Host> {
  return (await import('./daemon/host.ts')).hostEngine(engine);
}

// Functions that must work without an engine, each behind an import on demand.

/** Finds the intended spelling of a mistyped word. */
export const nearWords = () => import('./config/nearest.ts');

/** Identifies this process without a running engine. */
export const ownSeat = () => import('./runner/processes/own.ts');

/** Starts an engine in the background, with its supervisor. */
export const launching = () => import('./daemon/launch.ts');

/** The placeholder of a secret in the engine's comparisons. */
export const secretProof = () => import('./config/compare-secrets.ts');

/** Checking and writing a person's own files, such as ui.yaml of the dashboard. */
export const preferenceFiles = () => import('./doors/preferences.ts');

export const configuration = () => import('./doors/configuration.ts');

export const agentPrograms = () => import('./doors/agents.ts');

export const catalogues = () => import('./doors/catalogues.ts');

export const samples = () => import('./doors/samples.ts');

export { findMemoryEdits, writeMemoryText } from './knowledge/memory/edit-text.ts';
export { resolveMachineHome } from './workspace/machine-home.ts';
/** Folds repetition in a program's output; needs no engine. */
export const crushing = () => import('./knowledge/context/crush/index.ts');

/** Checks of `svc doctor` for the parts that only the engine uses. */
export const doctorChecks = () => import('./doors/doctor.ts');

/** The workspaces of this machine. */
export const machineWorkspaces = () => import('./doors/workspaces.ts');

export const dataFolders = () => import('./doors/data-folders.ts');

export const confinedStart = () => import('./doors/confined-start.ts');

export const mcpServer = () => import('./doors/mcp-server.ts');

export const acpHost = () => import('./doors/acp-host.ts');

/** The server that people host for their workspaces. */
export const linkedServer = () => import('./server/index.ts');

/** This machine's login at a server. */
export const linking = () => import('./doors/linking.ts');
