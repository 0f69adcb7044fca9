import { existsSync } from 'node:fs';
import { resolveMachineHome } from '../../config/index.ts';
import { findProjectEntry } from '../../core/workspace/project-entry.ts';
import {
  createFleetAccess,
  type FleetAccess,
  locateBrokerFiles,
  type RunningBranch,
  type SilentMachine,
  type WaitingSession,
} from '../../fleet/index.ts';
import { type AgentRegistry, listPrograms, locateAgent } from '../../workers/agents/index.ts';
import { splitCommand } from '../../workers/agents/template.ts';
import type { RunSockets } from '../../workers/runner/index.ts';
import type { PrepareCommand, RunProcesses } from '../../workers/runner/processes/index.ts';
import type { WorktreeSetup } from '../../workers/runner/setup/index.ts';
import type { GitAccess, Worktrees } from '../../workers/runner/worktrees/index.ts';
import type { LostRun, Session, Sessions } from '../../workers/sessions/index.ts';
import { buildPersonEnvironment } from './person-environment.ts';
import type { SharedDependencies } from './shared-dependencies.ts';

/** Finds the branch of a session whose newest commits may be on another machine; null for any other. */
function findRemoteBranch(session: Session): RunningBranch | null {
  const {
    sessionId,
    runs,
    runner,
    repository: folder,
    branch,
    baseCommit,
    state,
    commits,
    worktree,
  } = session;
  // At the end of a run its work may not have arrived.
  if (state === 'ended' && (commits !== null || worktree === null)) return null;
  return runner === null || folder === null || branch === null || baseCommit === null
    ? null
    : { sessionId, runs, runner, folder, branch, baseCommit };
}

/** The functions of other modules that the fleet calls. */
export interface FleetPorts {
  sessions: Sessions;
  agents: AgentRegistry;
  runSockets: RunSockets;
  worktrees: Worktrees;
  git: GitAccess;
  setup: Pick<WorktreeSetup, 'readProjectSetup'>;
  readStartTime: RunProcesses['readStartTime'];
  prepareCommand: PrepareCommand;
  findGateway(): string;
  /** Called when a machine can take runs, or cannot any more. */
  onChange(): void;
  /** Gives up the runs on a machine; see `Dispatcher.loseRuns`. */
  loseRuns(runner: string, release: () => Promise<void>): Promise<void>;
}

/** Builds the access to the machines that run workers besides this one. */
export function createFleetModule(shared: SharedDependencies, others: FleetPorts): FleetAccess {
  const { storage, events, clock, log, root, paths, config, env, dataId, closing } = shared;
  const { sessions, agents, runSockets, worktrees, git, setup, readStartTime, prepareCommand } = others;
  const { findGateway, onChange, loseRuns } = others;

  const findEntry = (project: string | null) => findProjectEntry(root, config(), project);

  function listWaiting(): WaitingSession[] {
    const choice = fleet.openChoice(sessions.countByRunner());
    return sessions.ready(clock.now(), { onlyElsewhere: true }).flatMap(({ sessionId, pool, ...rest }) => {
      if (pool === null) return [];
      const chosen = choice.choose({ ...rest, sessionId, pool });
      return 'why' in chosen ? [{ sessionId, pool, why: chosen.why }] : [];
    });
  }

  function onLate({ sessionId, why }: WaitingSession): void {
    const { taskId, pool } = sessions.get(sessionId);
    const reason = `${sessionId} waits for a machine of the pool ${pool}: ${why}`;
    recordAlert({ taskId, sessionId }, { code: 'no_runner', reason });
  }

  function onSilent({ name, why, sessions: working }: SilentMachine): void {
    const cause = why ?? 'it does not answer';
    const { lost_after_sec: patience } = config().fleet;
    const reason = `${name} has been silent for ${patience} s: ${cause}; ${working.join(', ')} work there`;
    recordAlert({}, { code: 'runner_unreachable', reason });
  }

  function recordAlert(about: { taskId?: string; sessionId?: string }, data: Record<string, string>): void {
    storage
      .write(() => events.append({ kind: 'alert', ...about, via: 'engine', data }))
      .catch((error: unknown) => log.warn({ error, ...about }, 'an alert was not recorded'));
  }

  /** Finds the session of a lost run, and the commands for the removal of its worktree. */
  function findLostSession({ sessionId, runner }: LostRun) {
    const session = sessions.get(sessionId);
    const { taskId, project } = session;
    const hasWorktree = session.runner === runner && session.worktree !== null;
    try {
      return { taskId, project, setup: setup.readProjectSetup(project), hasWorktree };
    } catch {
      return { taskId, project, setup: null, hasWorktree };
    }
  }

  async function recordSettled(run: LostRun, ref: string | null): Promise<void> {
    const { sessionId, runner, number, runId } = run;
    await storage.write(() => {
      sessions.settleLostRun(runId);
      const data = { runner, run: number, ref };
      const { taskId } = sessions.get(sessionId);
      if (ref !== null) events.append({ kind: 'run_superseded', taskId, sessionId, via: 'engine', data });
    });
  }

  const fleet = createFleetAccess({
    fleet: dataId,
    env: buildPersonEnvironment(shared),
    storage,
    clock,
    log,
    git,
    worktrees,
    agentsDir: paths.agents,
    shareScope: { home: resolveMachineHome(env), root },
    isRunOn({ sessionId, runId }, runner) {
      const session = sessions.byRunId(runId);
      return session?.sessionId === sessionId && session.runner === runner && session.state !== 'ended';
    },
    findRemoteBranch(branch) {
      const session = sessions.byBranch(branch);
      return session === null ? null : findRemoteBranch(session);
    },
    listRunning: () => sessions.listLive().flatMap((session) => findRemoteBranch(session) ?? []),
    listAssigned: () =>
      sessions.listLive().flatMap(({ sessionId, runner }) => (runner === null ? [] : { sessionId, runner })),
    serveSeat: runSockets.serveConnection,
    findGateway,
    onChange,
    listWaiting,
    onLate,
    onSilent,
    loseRuns,
    readPolicy() {
      const { on_lost: onLost, lost_after_sec: seconds } = config().fleet;
      return { onLost, lostAfterMs: seconds * 1000 };
    },
    broker: { data: paths.data, readStartTime },
    starts: {
      ...{ clock, log, data: paths.data, root, prepareCommand, splitWords: splitCommand },
      findStart: (pool) => config().fleet.pools[pool]?.start ?? '',
      onFailed: (pool, problem) =>
        recordAlert(
          {},
          { code: 'no_runner', reason: `no machine of the pool ${pool} was started: ${problem}` },
        ),
    },
    hasBroker: () => existsSync(locateBrokerFiles(paths.data).setting),
    onLeft({ id: runner, name }) {
      sessions.settleAllOf(runner);
      events.append({ kind: 'runner_removed', via: 'engine', data: { runner, name } });
    },
    isWorkingOn: (runner) => (sessions.countByRunner().get(runner) ?? 0) > 0,
    onJoined({ id: runner, name, host, pool }) {
      events.append({ kind: 'runner_joined', via: 'engine', data: { runner, name, host, pool } });
    },
    lostRuns: { listUnsettled: sessions.listUnsettled, findLostSession, recordSettled },
    listHolders: sessions.listHolders,
    findConfiguredPool: (project) => findEntry(project)?.pool || config().fleet.pool,
    isVerifiedInPool: (project) => findEntry(project)?.verify === 'pool',
    nameProject: (project) => project ?? config().project.name,
    readProfile: () => config().guard.profile || 'lite',
    listPrograms(agent) {
      try {
        return listPrograms(locateAgent(agents.findCommand(agent).template, agent));
      } catch {
        return [];
      }
    },
  });
  closing(fleet.close);
  /** At these moments its work is worth as much as its answer, or its report. */
  events.onAppend(({ kind, sessionId }) => {
    if (sessionId === null || (kind !== 'ask_opened' && kind !== 'verification_reported')) return;
    const session = sessions.isKnown(sessionId) ? sessions.get(sessionId) : null;
    const branch = session === null ? null : findRemoteBranch(session);
    if (branch !== null) storage.afterCommit(() => void fleet.saveBranch(branch));
  });
  return fleet;
}
