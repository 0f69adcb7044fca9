import type { ConfigKeeper } from '../../config/keeper.ts';
import { createToolCalls } from '../../core/api/tool-operations.ts';
import { version } from '../../core/base/own-package.ts';
import { whenGone } from '../../storage/index.ts';
import { createAllOperations } from './all-operations.ts';
import { createHostInterface } from './host-interface.ts';
import { createStops, refuseInsideRun, startModules, watchConfiguration } from './lifecycle.ts';
import { createModules } from './modules.ts';
import { type OpenOptions, openSharedDependencies, type SharedDependencies } from './shared-dependencies.ts';
import { createEngineStatus } from './status.ts';

interface BuildOptions
  extends Pick<SharedDependencies, 'dataId' | 'lostEngine' | 'paths' | 'env' | 'clock' | 'closing'> {
  options: OpenOptions;
  startedAt: string;
  keeper: ConfigKeeper;
  unwind(): Promise<void>;
}

/** Builds the modules in a data folder that this process holds, and adopts an earlier host's sessions. */
export async function buildEngine({ options, startedAt, keeper, unwind, ...opened }: BuildOptions) {
  const { closing } = opened;
  const shared = openSharedDependencies(options, { ...opened, keeper });
  const { storage, events, log, root } = shared;
  const modules = createModules(shared);
  refuseInsideRun(root, modules);
  const host = createHostInterface(shared, modules);
  const status = createEngineStatus(shared, modules, { keeper, startedAt });
  const { stopEngine, stopWithoutFolder, onStopAsked, onGone } = createStops(shared, modules);
  const operations = createAllOperations(shared, modules, {
    keeper,
    status: status.read,
    stop: stopEngine,
    ownWorkOf: host.ownWorkOf,
  });

  let isClosing = false;

  await storage.write(() => events.append({ kind: 'engine_started', data: { pid: process.pid, version } }));
  watchConfiguration(shared, modules, keeper);
  closing(whenGone(storage, () => void stopWithoutFolder()));
  await startModules(shared, modules);
  log.info({ pid: process.pid, version, root }, 'engine open');

  return {
    ...host,
    startedAt,
    operations,
    callTool: createToolCalls(operations),
    onGone,
    onStopAsked,
    stop: stopEngine,
    setHttp: status.setHttp,
    /** Prepares what the first calls and runs would have to wait for. Called when clients are let in. */
    prepareFirstCalls() {
      if (isClosing) return;
      storage.prepareRest();
      void status.findContainment();
    },
    /** Stops listening, releases workers, closes the database, frees the lock. */
    async close() {
      isClosing = true;
      log.info({}, 'engine closing');
      await storage.write(() => events.append({ kind: 'engine_stopped' })).catch(() => undefined);
      await unwind();
    },
  };
}
