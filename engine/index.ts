/** The engine's one door. Clients need little of it, so heavy parts (configuration, storage, hosting) are loaded on first use. */
import type { Engine, OpenOptions } from './daemon/compose/compose.ts';
import type { EngineHost } from './daemon/host.ts';

export type { DiffComment } from './board/comments/rows.ts';
export { type FollowUpMaterial, writeFollowUpMessage } from './board/comments/write-follow-up.ts';
export type { Decision } from './board/decisions/index.ts';
export type { Ledger } from './board/ledger/rows.ts';
export type { Lock } from './board/locks/rows.ts';
export type { HeldPath } from './board/locks/tools.ts';
export type { ListedDecision } from './board/operations/decisions.ts';
export type { Racer } from './board/operations/races.ts';
export type { ListedTask, TaskChoices } from './board/operations/tasks.ts';
export type { TaskPlan } from './board/plan.ts';
export type { Race, RaceState } from './board/races/index.ts';
export type { SessionTrial } from './board/review/worktree-actions.ts';
export type { Schedule } from './board/schedules/index.ts';
export {
  describeFigures,
  describeQueue,
  describeReach,
  describeRework,
  describeSuccess,
  foldValues,
  formatGroupCost,
  formatGroupTokens,
  type StatsFact,
} from './board/stats/describe.ts';
export type { StatsDay, StatsFigures, StatsReport } from './board/stats/index.ts';
export { describeAuthor, describeTaskSource, findScheduleName } from './board/tasks/describe-source.ts';
export type { Task } from './board/tasks/index.ts';
export type { RerunResult, Verification, VerificationState } from './board/verify/rows.ts';
export { selectRerunCommands, VERIFICATION_WORDS } from './board/verify/state.ts';
export type { EditResult } from './board/workflow/index.ts';
export type { Ask } from './bus/asks/rows.ts';
export type { Message } from './bus/messages/rows.ts';
export type { PendingKey } from './config/consent.ts';
export type { ConsentView } from './config/consent-view.ts';
export type { DifferenceLine } from './config/consent-words.ts';
export type { FreeAddresses } from './config/free-addresses.ts';
export type { WireValue } from './core/api/operation.ts';
export {
  isPausedRun,
  isUntilAnswered,
  nameEvent,
  nameSessionState,
  nameTaskState,
  OTHER_WORDS,
  SESSION_WORDS,
  TASK_WORDS,
  WORKSPACE_WORDS,
  type WorkspaceWord,
} from './core/api/state-words.ts';
export type { ToolDescription } from './core/api/tool.ts';
export type { ToolAnswer } from './core/api/tool-operations.ts';
export { renderWords, type SentenceReader } from './core/api/words.ts';
export { isDoNotTrackSet } from './core/link-protocol/do-not-track.ts';
export { readDaemonRecord } from './core/workspace/daemon-record.ts';
export { findWorkspace } from './core/workspace/find.ts';
export type { RegisteredWorkspace } from './core/workspace/registry.ts';
export type { McpChannel } from './daemon/client.ts';
export {
  type ApiInput,
  type ConnectOptions,
  connectToEngine,
  type EngineClient,
  mayNotStartError,
  type RunOptions,
} from './daemon/client.ts';
export type { EngineNotification } from './daemon/client-notifications.ts';
export type { Api, Engine, OpenOptions } from './daemon/compose/compose.ts';
export type { EngineStatus } from './daemon/compose/operations.ts';
export type { EngineHost } from './daemon/host.ts';
export type { EngineLink } from './daemon/mcp/link.ts';
export type { McpRelay } from './daemon/mcp/service.ts';
export type { ListedSession } from './dispatch/describe-sessions.ts';
export { describeMachineAgents } from './fleet/describe-agents.ts';
export type { ListedRunner, RunnerInspection } from './fleet/index.ts';
export { runPersonProgram } from './forge/person-programs.ts';
export type { DayUsage, GatewayState, NamedUsage } from './gateway/index.ts';
export { describeCopyType, describeLost } from './knowledge/guard/describe-copy.ts';
export { describeLanguage } from './knowledge/guard/describe-language.ts';
export { formatImpact } from './knowledge/symbols/format-impact.ts';
export { describeLink, describeLinkState, isLinkTroubled, type LinkFacts } from './link/describe.ts';
export type { LinkStatus } from './link/status.ts';
export type { TelemetryView } from './link/telemetry/view.ts';
export type { EventDelivery } from './notify/rows.ts';
export { describePullRequest, explainPullRequest } from './pull-requests/describe.ts';
export type { PullRequestMaterial } from './pull-requests/prepare.ts';
export {
  chooseRemote,
  guessProgram,
  MISSING_REMOTE,
  PULL_REQUEST_PROGRAMS,
  type PullRequestProgram,
} from './pull-requests/programs.ts';
export { askPullRequest, buildPullRequest, publishPullRequest, readWish } from './pull-requests/publish.ts';
export { findRemoteAddress } from './pull-requests/remote-address.ts';
export { readWebPlace } from './pull-requests/web-place.ts';
export type { AccessLogEntry } from './receiver/serve.ts';
export type { ListedSource, SourceTrial } from './sources/index.ts';
export type { LoggedEvent } from './storage/index.ts';
export type { OpenCircuit as AgentCircuit } from './workers/agents/index.ts';
export type { HookEvent } from './workers/agents/presets/hook-event.ts';
export type { AgentHooks, HookEntry, HookLines } from './workers/agents/presets/hooks.ts';
export type { GatewayRoute, McpServer } from './workers/agents/presets/preset.ts';
export { READING_WORDS, type ReadingTime } from './workers/agents/reading-time.ts';
export type { AcpError, AcpLine, AgentError, FoundError } from './workers/agents/streams/acp.ts';
export type { EndCode } from './workers/agents/streams/stream.ts';
export { describeConsent, listSetupFacts } from './workers/runner/setup/consent-text.ts';
export type { ProjectSetup } from './workers/runner/setup/projects.ts';
export type { PromoteResult, PruneEntry, SessionWorktree } from './workers/runner/worktrees/index.ts';
export { describeSensitive, type SensitiveChange } from './workers/runner/worktrees/inspect/sensitive.ts';
export { WORKTREE_STATES, type WorktreeState } from './workers/runner/worktrees/inspect/states.ts';
export { PROMOTE_STRATEGIES, type PromoteStrategy } from './workers/runner/worktrees/merge/strategies.ts';
export type { Session } from './workers/sessions/index.ts';
export { type NextStep, outcomeOfSession, workLeftBy } from './workers/sessions/outcome.ts';
export type { SessionPeer } from './workers/sessions/peers.ts';
export { findLocalPath, formatSitePath, remoteSessionError } from './workers/sessions/site.ts';

/** Opens the whole system for the workspace of `options.file`; the caller is its only host until `close()`. */
export async function openEngine(options: OpenOptions): Promise<Engine> {
  return (await import('./daemon/compose/compose.ts')).openEngine(options);
}

/** Admits clients of the socket and of loopback HTTP. */
export async function hostEngine(engine: Engine): Promise<EngineHost> {
  return (await import('./daemon/host.ts')).hostEngine(engine);
}

// Functions that must work without an engine, each behind an import on demand.

/** Finds the intended spelling of a mistyped word. */
export const nearWords = () => import('./config/nearest.ts');

/** Identifies this process without a running engine. */
export const ownSeat = () => import('./workers/runner/processes/own.ts');

/** Starts an engine in the background, with its supervisor. */
export const launching = () => import('./daemon/launch.ts');

/** The placeholder of a secret in the engine's comparisons. */
export const secretProof = () => import('./config/compare-secrets.ts');

/** Checking and writing a person's own files, such as ui.yaml of the dashboard. */
export const preferenceFiles = () => import('./daemon/doors/preferences.ts');

export const configuration = () => import('./daemon/doors/configuration.ts');

export const agentPrograms = () => import('./daemon/doors/agents.ts');

export const codeHosts = () => import('./daemon/doors/code-hosts.ts');

export const catalogues = () => import('./daemon/doors/catalogues.ts');

export const samples = () => import('./daemon/doors/samples.ts');

export { resolveMachineHome } from './core/workspace/machine-home.ts';
export { findMemoryEdits, writeMemoryText } from './knowledge/memory/edit-text.ts';
/** Leaving out of a program's output what repeats; needs no engine. */
export const crushing = () => import('./knowledge/context/crush/index.ts');

/** Checks of `svc doctor` for the parts that only the engine uses. */
export const doctorChecks = () => import('./daemon/doors/doctor.ts');

/** The workspaces of this machine. */
export const machineWorkspaces = () => import('./daemon/doors/workspaces.ts');

export const dataFolders = () => import('./daemon/doors/data-folders.ts');

export const confinedStart = () => import('./daemon/doors/confined-start.ts');

export const mcpServer = () => import('./daemon/doors/mcp-server.ts');

/** The program that runs on another machine for the engine of a fleet. */
export const fleetMachine = () => import('./daemon/doors/fleet-machine.ts');

export const acpHost = () => import('./daemon/doors/acp-host.ts');

/** The server that people host for their workspaces. */
export const linkedServer = () => import('./linked-server/index.ts');

/** Finds the chat of a phone. */
export const pairing = () => import('./daemon/doors/pairing.ts');

/** This machine's login at a server. */
export const linking = () => import('./daemon/doors/linking.ts');
