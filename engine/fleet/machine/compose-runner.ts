import { systemClock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { version } from '../../core/base/own-package.ts';
import { platform, workspaceMark } from '../../core/platform/index.ts';
import { resolveMachineHome } from '../../core/workspace/machine-home.ts';
import { createWorkChecks } from '../../workers/runner/checks/index.ts';
import {
  checkConfinement,
  createCommandConfinement,
  createConfinement,
} from '../../workers/runner/confine/index.ts';
import { createRunSockets } from '../../workers/runner/index.ts';
import {
  buildWorkerEnvironment,
  createProcesses,
  ENGINE_MARK,
} from '../../workers/runner/processes/index.ts';
import { createLocalRunner } from '../../workers/runner/runs/index.ts';
import { createSetup } from '../../workers/runner/setup/index.ts';
import { createWorktrees, watchLeftGits } from '../../workers/runner/worktrees/index.ts';
import { createTransfers } from '../../workers/runner/worktrees/transfer/index.ts';
import type { MachineFolders } from './machine-folders.ts';

export interface MachineDeps {
  folders: MachineFolders;
  /** The environment of this process, with the PATH of the person's shell. */
  env: NodeJS.ProcessEnv;
  /** Program and arguments that run `svc`. */
  svc: readonly string[];
  log: Log;
  /** Collects what has to be closed, in the opposite order. */
  closing(close: () => unknown): void;
}

const GRACE_MS = 5000;

const noProjectError = (): SvcError =>
  new SvcError('internal', 'a runner on another machine has no projects');

/** Builds the runner of this machine for a board on another one: the same parts as in an engine, without a database. */
export function composeMachineRunner({ folders, env, svc, log, closing }: MachineDeps) {
  const { data, agents: agentsDir, worktrees: worktreesDir, root, configFile } = folders;
  const machineHome = resolveMachineHome(env);
  const processes = createProcesses({ containment: platform.createContainment({ data, env }) });
  closing(processes.close);
  const environment = (extra: Record<string, string> = {}) =>
    buildWorkerEnvironment(env, { SVC_HOME: machineHome, [ENGINE_MARK]: workspaceMark(data), ...extra });
  const git = { env: environment(), agentsDir };
  const worktrees = createWorktrees(git);
  closing(worktrees.close);
  closing(watchLeftGits(git.env).close);
  const transfers = createTransfers(git);
  closing(transfers.close);
  const paths = {
    data,
    db: `${data}/svc.db`,
    socket: folders.socket,
    agents: agentsDir,
    worktrees: worktreesDir,
  };
  const confinement = createConfinement({ env, root, configFile, paths, machineHome, svc });
  const confine = createCommandConfinement(confinement, agentsDir);
  const runSockets = createRunSockets({ root, version, env });
  closing(runSockets.close);
  const setup = createSetup({
    processes,
    worktrees,
    where() {
      throw noProjectError();
    },
    environment,
    configFile,
    confine,
    agentsDir,
    log,
    graceMs: GRACE_MS,
    endCommands: async () => undefined,
  });
  closing(setup.close);
  const runner = createLocalRunner({
    processes,
    worktrees,
    setup,
    confinement,
    checkConfinement: () => checkConfinement(env),
    runSockets,
    isEngineElsewhere: true,
    agents: {
      resolveFolder() {
        throw noProjectError();
      },
    },
    paths,
    configFile,
    svc,
    isArgvSeen: !platform.processes.hidesOthers(),
    environment,
    clock: systemClock,
    log,
  });
  closing(runner.close);
  const workChecks = createWorkChecks({
    ...{ worktrees, setup, processes, agentsDir, log, graceMs: GRACE_MS, environment, confine },
  });
  return { runner, worktrees, transfers, runSockets, processes, environment, workChecks };
}

export type MachineRunnerParts = ReturnType<typeof composeMachineRunner>;
