import { listSecretVariables, resolveMachineHome } from '../../config/index.ts';
import { version } from '../../core/base/own-package.ts';
import { platform, workspaceMark } from '../../core/platform/index.ts';
import { createCallerPaths } from '../../core/workspace/caller-paths.ts';
import { openKnownSessions } from '../../core/workspace/known-sessions.ts';
import { createWorkspacePaths } from '../../core/workspace/workspace-path.ts';
import { locateRemoteWorktrees } from '../../fleet/index.ts';
import { listProviderVariables } from '../../gateway/index.ts';
import { type AgentRegistry, createAgents, createCircuits } from '../../workers/agents/index.ts';
import {
  checkConfinement,
  createCommandConfinement,
  createConfinement,
} from '../../workers/runner/confine/index.ts';
import { createRunSockets } from '../../workers/runner/index.ts';
import {
  buildWorkerEnvironment,
  createCommands,
  createProcesses,
  ENGINE_MARK,
} from '../../workers/runner/processes/index.ts';
import {
  briefFile,
  clearWorktree,
  createLocalRunner,
  createRunnerRouter,
  findWorktreePort,
} from '../../workers/runner/runs/index.ts';
import { createRunCommands, createSetup, type ProjectScope } from '../../workers/runner/setup/index.ts';
import { createWorktrees, type GitAccess, watchLeftGits } from '../../workers/runner/worktrees/index.ts';
import { findSensitiveKind, isPrivatePath } from '../../workers/runner/worktrees/inspect/sensitive.ts';
import {
  createFollowUps,
  createGuidance,
  createSessions,
  createVisitors,
  findLocalPath,
  findPlacement,
  type Session,
  type SessionBooks,
  type Sessions,
} from '../../workers/sessions/index.ts';
import { createFleetModule, type FleetPorts } from './fleet.ts';
import type { SharedDependencies } from './shared-dependencies.ts';

export type WorkerModules = ReturnType<typeof createWorkerModules>;

/** Reports whether a file of that name configures a program that works in its folder. */
export const isConfiguration = (path: string): boolean => findSensitiveKind(path) !== null;

/** Builds the modules of `engine/workers`: sessions, agents, and all that a run needs on this machine. */
export function createWorkerModules(
  shared: SharedDependencies,
  { books, ...ports }: { books: SessionBooks } & Pick<FleetPorts, 'findGateway' | 'onChange' | 'loseRuns'>,
) {
  const { storage, events, clock, log, root, paths, config, env, closing } = shared;
  const sessions = createSessions({ storage, clock, books });
  const processes = createProcesses({
    containment: platform.createContainment({ data: paths.data, env }),
    lostEngine: shared.lostEngine,
    knownSessions: openKnownSessions(paths.data),
  });
  closing(processes.close);
  /**
   * The environment of everything that the engine starts: with the machine home, and with a mark so that it is never
   * taken for the person.
   */
  const childEnvironment = (extra: Record<string, string> = {}) =>
    buildWorkerEnvironment(
      env,
      { SVC_HOME: resolveMachineHome(env), [ENGINE_MARK]: workspaceMark(paths.data), ...extra },
      [...listSecretVariables(config()), ...listProviderVariables(config())],
    );
  const agents = createAgents({
    root,
    config,
    env,
    workerEnvironment: childEnvironment,
    waitingKeys: shared.waitingKeys,
  });
  const runSockets = createRunSockets({ root, version, env });
  closing(runSockets.close);
  // A worker can write the filters and drivers that git runs in its repository; they see git's environment.
  const git = { env: childEnvironment(), agentsDir: paths.agents } satisfies GitAccess;
  const worktrees = createWorktrees({
    ...git,
    fetchBranch: (branch) => fleet.fetchBranch(branch),
    findRemoteTip: (branch) => fleet.findTip(branch),
  });
  closing(worktrees.close);
  closing(watchLeftGits(git.env).close);
  const confinement = createConfinement({
    env,
    root,
    configFile: shared.file,
    paths,
    machineHome: resolveMachineHome(env),
    svc: shared.svc,
  });
  const confine = createCommandConfinement(confinement, paths.agents);
  const carried = (): ProjectScope => ({ root, config: config(), home: resolveMachineHome(env) });
  const setupBase = {
    processes,
    where: carried,
    environment: childEnvironment,
    confine,
    configFile: shared.file,
    agentsDir: paths.agents,
    log,
    graceMs: shared.graceMs,
  };
  const runCommands = createRunCommands({
    ...setupBase,
    clock,
    async givePort(session) {
      const placement = findPlacement(session);
      const worktree = findLocalPath(session.worktree);
      if (session.port !== null || placement === null || worktree === null) return session.port;
      const port = await findWorktreePort(worktree, sessions.listPorts());
      await storage.write(() => sessions.place(session.sessionId, { ...placement, port }));
      return port;
    },
    onChange({ sessionId, taskId }, { name, state, port, exitCode, exitSignal }) {
      const kind = state === 'running' ? 'command_started' : 'command_ended';
      const data = {
        name,
        port,
        ...(state === 'running' ? {} : { exit_code: exitCode, exit_signal: exitSignal }),
      };
      void storage
        .write(() => events.append({ kind, sessionId, taskId, via: 'engine', data }))
        .catch((error: unknown) => log.warn({ error, sessionId, name }, `${kind} was not recorded`));
    },
  });
  closing(runCommands.close);
  const setup = createSetup({ ...setupBase, worktrees, endCommands: runCommands.endInWorktree });
  closing(setup.close);
  const local = createLocalRunner({
    processes,
    worktrees,
    setup,
    confinement,
    checkConfinement: () => checkConfinement(env),
    runSockets,
    isEngineElsewhere: false,
    agents,
    paths,
    configFile: shared.file,
    svc: shared.svc,
    isArgvSeen: !platform.processes.hidesOthers(),
    environment: childEnvironment,
    clock,
    log,
  });
  const fleet = createFleetModule(shared, {
    ...{ sessions, agents, runSockets, worktrees, git },
    setup,
    readStartTime: processes.readStartTime,
    prepareCommand: createCommands(processes, childEnvironment),
    ...ports,
  });
  const runner = createRunnerRouter({
    local,
    findRemote: fleet.findRunner,
    findRunnerOf: sessions.findRunner,
    closeRemotes: fleet.close,
  });
  const visitors = createVisitors({ sessions, processes });
  return {
    sessions,
    /** Returns the worker session of that id; null for other ids. */
    findSession: (sessionId: string): Session | null =>
      sessions.isKnown(sessionId) ? sessions.get(sessionId) : null,
    processes,
    childEnvironment,
    agents,
    runSockets,
    git,
    worktrees,
    ...createPathResolvers(shared, sessions, agents),
    confine,
    /** The places of the projects' worktree setup and of its consents. */
    carried,
    setup,
    runCommands,
    runner,
    fleet,
    clearWorktree: (session: Session) => clearWorktree({ runner, setup }, session),
    visitors,
    followUps: createFollowUps({ sessions, visitors }),
    circuits: createCircuits({ storage, events, clock }),
    guidance: createGuidance(() => ({
      locale: config().workspace.locale,
      chair: config().chair.guidance,
      context: config().context.guidance,
      hasMemory: config().memory.enabled !== false,
    })),
    briefOf(session: Session): string | null {
      const [worktree, cwd] = [findLocalPath(session.worktree), findLocalPath(session.cwd)];
      return cwd === null ? null : briefFile({ paths }, { sessionId: session.sessionId, worktree, cwd });
    },
    isStrict: () => config().guard.profile === 'strict',
  };
}

/** Creates what resolves the paths that callers name. */
function createPathResolvers(
  { root, paths, dataId }: SharedDependencies,
  sessions: Sessions,
  agents: AgentRegistry,
) {
  const projects = () => agents.listProjects().map(({ folder }) => folder);
  const workspacePaths = createWorkspacePaths({
    root,
    worktrees: paths.worktrees,
    projects,
    repositoryOf: (name) => sessions.byBranch(`svc/${name}`)?.repository ?? null,
    remoteWorktrees: locateRemoteWorktrees(dataId),
  });
  const callerPaths = createCallerPaths({
    paths: workspacePaths,
    root,
    closed: [paths.data, paths.agents, paths.worktrees],
    worktrees: paths.worktrees,
    projects,
    foldersOf(sessionId) {
      if (!sessions.isKnown(sessionId)) return null;
      const { worktree, cwd, repository, project } = sessions.get(sessionId);
      return {
        worktree: findLocalPath(worktree),
        cwd: findLocalPath(cwd),
        repository,
        project: agents.resolveFolder(project),
      };
    },
    isPrivate: isPrivatePath,
    isConfiguration,
  });
  return { workspacePaths, callerPaths };
}
