import { join } from 'node:path';
import type { LocalPlacement, Session } from '../../sessions/index.ts';
import type { CommandConfinement } from '../confine/commands.ts';
import type { RunProcesses } from '../processes/index.ts';
import type { Worktrees } from '../worktrees/index.ts';
import type { ProjectScope, ProjectSetup } from './projects.ts';

export interface SetupDeps {
  processes: RunProcesses;
  worktrees: Pick<Worktrees, 'isIgnored'>;
  /** The current configuration and the location of the consents. */
  where(): ProjectScope;
  /** A worker's environment, with these names added. */
  environment(extra: Record<string, string>): Record<string, string>;
  /** svc.yaml, given to the commands as `SVC_CONFIG`. */
  configFile: string;
  confine: CommandConfinement;
  /** Folder of the sessions' own folders. */
  agentsDir: string;
  log: { warn(facts: object, text: string): void };
  graceMs: number;
  /** Stops what a person has started in a worktree that is about to be removed. */
  endCommands(worktree: string): Promise<void>;
  /** How long one command of a teardown may take, ms; 60 000. */
  teardownMs?: number;
}

/** The facts about a session that a setup needs. */
export type SessionOfSetup = Pick<Session, 'sessionId' | 'taskId' | 'project' | 'profile'>;

export interface PreparedSetup {
  session: SessionOfSetup;
  setup: ProjectSetup;
  placement: Pick<LocalPlacement, 'worktree' | 'cwd' | 'port'>;
  runId: string;
  /** True if a worker may have written the contents of the worktree. */
  isOfWorkers(): Promise<boolean>;
  /** The file for its output, absolute; the session's log by default. */
  logFile?: string;
}

/** A worktree that is about to be removed. */
export interface TornDown {
  session: SessionOfSetup;
  placement: LocalPlacement;
  setup: ProjectSetup;
}

export const setupFolder = (agentsDir: string, sessionId: string, runId: string): string =>
  join(agentsDir, sessionId, `setup-${runId}`);

/** The folder of `run` commands: a folder per worktree, with logs and the folders of running commands. */
export const runCommandsFolder = (agentsDir: string): string => join(agentsDir, '.run');

export const sessionLog = (agentsDir: string, sessionId: string): string => join(agentsDir, sessionId, 'log');

/** Builds the environment of a project's commands. */
export const buildSetupEnvironment = (
  deps: Pick<SetupDeps, 'environment' | 'configFile'>,
  { sessionId, taskId, port }: Pick<Session, 'sessionId' | 'taskId' | 'port'>,
): Record<string, string> =>
  deps.environment({
    SVC_CONFIG: deps.configFile,
    SVC_TASK: taskId,
    SVC_SESSION: sessionId,
    SVC_ROLE: 'worker',
    ...(port === null ? {} : { SVC_PORT: String(port) }),
  });
