import type { BusDeps } from '../../bus/deps.ts';
import { createBus } from '../../bus/index.ts';
import { isLoopback } from '../../config/index.ts';
import { TO_FILE } from '../../workers/agents/presets/notify.ts';
import { fillPlaceholders, splitCommand } from '../../workers/agents/template.ts';
import { createCommands } from '../../workers/runner/processes/index.ts';
import type { SharedDependencies } from './shared-dependencies.ts';
import type { WorkerModules } from './workers.ts';

/** Builds `engine/bus`. */
export function createBusModule(
  shared: SharedDependencies,
  workers: WorkerModules,
  ports: Pick<BusDeps, 'locateSymbol' | 'sharedPaths' | 'answered' | 'seatClosed' | 'takeUp'>,
) {
  const { sessions, agents, processes } = workers;
  const bus = createBus({
    guidance: workers.guidance,
    storage: shared.storage,
    events: shared.events,
    clock: shared.clock,
    sessions,
    paths: workers.workspacePaths,
    callerPaths: workers.callerPaths,
    config: shared.config,
    projectId: agents.resolveProjectId,
    folder: agents.resolveFolder,
    root: shared.root,
    data: shared.paths.data,
    prepare: createCommands(processes, workers.childEnvironment),
    startOf: processes.readStartTime,
    isAlive: processes.checkLiveness,
    briefOf: workers.briefOf,
    templates: { fallback: TO_FILE, words: splitCommand, fill: fillPlaceholders, isLoopback },
    log: shared.log,
    ...ports,
  });
  shared.closing(bus.close);
  return bus;
}
