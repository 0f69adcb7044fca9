import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { asSvcError, SvcError } from '../../../core/base/errors.ts';
import { isInsideFolder } from '../../../core/base/paths.ts';
import { makePrivateFolder } from '../../../core/base/private-files.ts';
import { sentence } from '../../../core/base/sentence.ts';
import { settleWithin } from '../../../core/base/settle-within.ts';
import type { Session, SessionPlacement } from '../../sessions/index.ts';
import type { CommandConfinement } from '../confine/commands.ts';
import type { RunProcesses } from '../processes/index.ts';
import type { Worktrees } from '../worktrees/index.ts';
import { appendLogNote, type CommandSupervision, runCommands } from './commands.ts';
import { copyEnvFiles } from './env-files.ts';
import {
  checkProjectFolder,
  digestProjectSetup,
  type ProjectScope,
  type ProjectSetup,
  readProjectSetup,
  requireConsentedSetup,
} from './projects.ts';

export type { CommandSupervision } from './commands.ts';
export type { ProjectScope, ProjectSetup } from './projects.ts';

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
  /** How long one command of a teardown may take, ms; 60 000. */
  teardownMs?: number;
}

/** The facts about a session that a setup needs. */
export type SessionOfSetup = Pick<Session, 'sessionId' | 'taskId' | 'project' | 'profile'>;

export interface PreparedSetup {
  session: SessionOfSetup;
  placement: SessionPlacement;
  runId: string;
  /** True if a worker may have written the contents of the worktree. */
  isOfWorkers(): Promise<boolean>;
  /** The file for its output, absolute; the session's log by default. */
  logFile?: string;
}

/** Prepares worktrees for work, and undoes that before they are removed. In place it does nothing. */
export interface WorktreeSetup {
  /** Reads what a project's sessions would be set up with. Throws `unknown_project`. */
  readProjectSetup(project: string | null): ProjectSetup;
  /** A digest of a project's setup; looks at no consent. Throws `unknown_project`. */
  digestProjectSetup(project: string | null): string;
  /** Throws `consent_missing` if a session of the project needs a missing consent. */
  checkConsent(session: Pick<Session, 'project' | 'inplace' | 'worktree' | 'continues'>): void;
  /**
   * Copies the environment files and runs the setup commands, once per worktree: a prepared one is left alone. False
   * if nothing had to be done. Throws `consent_missing`, `setup_failed`.
   */
  prepareWorktree(run: PreparedSetup, follow: CommandSupervision): Promise<boolean>;
  /** Runs the teardown commands in a session's worktree. Never throws; returns the problems. */
  tearDownWorktree(session: Session): Promise<string[]>;
  /** Kills the remaining processes of a run's setup that was interrupted with its host. */
  endAbandonedSetup(sessionId: string, runId: string): Promise<void>;
  /** Kills the remaining processes of an earlier host's teardowns. */
  endAbandonedTeardowns(): Promise<void>;
  /** Stops running teardowns. */
  close(): Promise<void>;
}

const TEARDOWN_MS = 60_000;

const leadsInto = (folder: string, path: string): boolean =>
  isInsideFolder(realpathSync(folder), realpathSync(path));

function checkInside(worktree: string, place: string): void {
  if (!leadsInto(worktree, place))
    throw new SvcError('worktree_unsafe', `${place} leads out of the worktree`);
}

export function createSetup(deps: SetupDeps): WorktreeSetup {
  const { processes, agentsDir } = deps;
  const closing = new AbortController();
  /** By worktree. */
  const tearing = new Map<string, Promise<string[]>>();
  const teardowns = join(agentsDir, '.teardown');

  const setupFolder = (sessionId: string, runId: string): string =>
    join(agentsDir, sessionId, `setup-${runId}`);
  const logPath = (sessionId: string): string => join(agentsDir, sessionId, 'log');
  const markerPath = (worktree: string): string => join(worktree, '.svc', 'set-up');

  const buildEnvironment = ({ sessionId, taskId }: SessionOfSetup): Record<string, string> =>
    deps.environment({
      SVC_CONFIG: deps.configFile,
      SVC_TASK: taskId,
      SVC_SESSION: sessionId,
      SVC_ROLE: 'worker',
    });

  async function endLeftoverProcesses(folder: string, runId: string): Promise<void> {
    // A command that is still starting does not start without its folder.
    rmSync(folder, { recursive: true, force: true });
    const { survivors } = await processes.sweep(runId);
    if (survivors.length > 0) deps.log.warn({ survivors }, 'processes of a command could not be ended');
  }

  async function copyProjectFiles(
    project: ProjectSetup,
    { placement, logFile }: Pick<PreparedSetup, 'placement'> & { logFile: string },
    worktree: string,
  ) {
    const inside = relative(worktree, placement.cwd);
    const left = await copyEnvFiles({
      files: project.envFiles,
      from: project.folder,
      to: placement.cwd,
      scratch: join(worktree, '.svc'),
      isIgnored: (file) => deps.worktrees.isIgnored(worktree, join(inside, file)),
    });
    for (const { file, why } of left) appendLogNote(logFile, 'setup', `${file} was not copied: ${why}`);
  }

  async function runTeardown(session: Session, worktree: string): Promise<string[]> {
    const { sessionId, cwd } = session;
    const logFile = logPath(sessionId);
    try {
      const project = requireConsentedSetup(deps.where(), session.project);
      if (project.teardown.length === 0 || cwd === null || !existsSync(cwd)) return [];
      if (!leadsInto(worktree, cwd)) throw new SvcError('path_outside', `${cwd} leads out of the worktree`);
      makePrivateFolder(agentsDir, join(agentsDir, sessionId));
      const runId = randomUUID();
      const env = buildEnvironment(session);
      const failed = await runCommands(
        processes,
        {
          what: 'teardown',
          commands: project.teardown,
          cwd,
          env,
          runId,
          folder: join(teardowns, runId),
          logFile,
          // The contents are the agent's work.
          confine: (argv) => deps.confine(session, { argv, cwd, env }),
          isConfined: session.profile === 'strict',
        },
        {
          mayContinue: () => !closing.signal.aborted,
          async waitForEnd(running) {
            const exit = await settleWithin(deps.teardownMs ?? TEARDOWN_MS, running.exited, closing.signal);
            if (exit === null) await processes.stop({ ...running, runId }, { graceMs: deps.graceMs });
            return exit;
          },
        },
      );
      return failed === null ? [] : [`teardown of ${sessionId}: ${failed}`];
    } catch (thrown) {
      const { code, message, hint } = asSvcError(thrown);
      const what = code === 'consent_missing' ? 'was skipped' : 'failed';
      if (existsSync(logFile)) appendLogNote(logFile, 'teardown', `${what}: ${message}`);
      return [`teardown of ${sessionId} ${what}: ${message}${hint === undefined ? '' : ` (${hint})`}`];
    }
  }

  return {
    readProjectSetup: (project) => readProjectSetup(deps.where(), project),

    digestProjectSetup: (project) => digestProjectSetup(deps.where(), project),

    checkConsent({ project, inplace, worktree, continues }) {
      // A session that continues in a worktree finds it prepared, or is refused.
      if (!inplace && worktree === null && continues === null) requireConsentedSetup(deps.where(), project);
      else checkProjectFolder(deps.where(), project);
    },

    async prepareWorktree(run, follow) {
      const { session, placement, runId } = run;
      const { sessionId } = session;
      const logFile = run.logFile ?? logPath(sessionId);
      const { worktree, cwd } = placement;
      if (worktree === null || existsSync(markerPath(worktree))) return false;
      const project = requireConsentedSetup(deps.where(), session.project);
      if (project.setup.length + project.envFiles.length === 0) return false;
      const failed = (what: string): SvcError =>
        new SvcError('setup_failed', `setup of the project ${project.id}: ${what}`, {
          hint:
            run.logFile === undefined
              ? sentence`{session.log ${sessionId}} shows its output`
              : `${logFile} shows its output`,
        });
      makePrivateFolder(agentsDir, join(agentsDir, sessionId));
      makePrivateFolder(worktree, join(worktree, '.svc'));
      // A repository may hold links in these places.
      for (const place of [join(worktree, '.svc'), cwd]) checkInside(worktree, place);
      await copyProjectFiles(project, { placement, logFile }, worktree);
      const env = buildEnvironment(session);
      const isOfWorkers = session.profile === 'strict' && (await run.isOfWorkers());
      const problem = await runCommands(
        processes,
        {
          what: 'setup',
          commands: project.setup,
          cwd,
          env,
          runId,
          folder: setupFolder(sessionId, runId),
          logFile,
          confine: async (argv) =>
            isOfWorkers ? deps.confine({ ...session, worktree }, { argv, cwd, env }) : argv,
          isConfined: isOfWorkers,
        },
        follow,
      );
      if (problem !== null) throw failed(problem);
      // The commands may be a worker's, and so may a link here.
      checkInside(worktree, join(worktree, '.svc'));
      rmSync(markerPath(worktree), { force: true });
      writeFileSync(markerPath(worktree), '', { mode: 0o600, flag: 'wx' });
      return true;
    },

    tearDownWorktree(session) {
      const { worktree } = session;
      if (worktree === null || !existsSync(worktree)) return Promise.resolve([]);
      // A second caller waits for the first instead of running it again.
      const under = tearing.get(worktree);
      if (under !== undefined) return under;
      const work = runTeardown(session, worktree).finally(() => tearing.delete(worktree));
      tearing.set(worktree, work);
      return work;
    },

    endAbandonedSetup: (sessionId, runId) => endLeftoverProcesses(setupFolder(sessionId, runId), runId),

    async endAbandonedTeardowns() {
      if (!existsSync(teardowns)) return;
      for (const runId of readdirSync(teardowns)) await endLeftoverProcesses(join(teardowns, runId), runId);
    },

    async close() {
      closing.abort();
      await Promise.allSettled(tearing.values());
    },
  };
}
