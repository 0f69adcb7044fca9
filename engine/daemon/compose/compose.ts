import { resolveDataPaths } from '../../config/index.ts';
import { createConfigKeeper } from '../../config/keeper.ts';
import type { ApiOf } from '../../core/api/operation.ts';
import { createToolCalls } from '../../core/api/tool-operations.ts';
import { homeOfUser } from '../../core/base/account.ts';
import { systemClock } from '../../core/base/clock.ts';
import { version } from '../../core/base/own-package.ts';
import { whenGone } from '../../storage/index.ts';
import { createAllOperations } from './all-operations.ts';
import { takeDataFolder } from './data-folder.ts';
import { createHostInterface } from './host-interface.ts';
import { createStops, refuseInsideRun, startModules, watchConfiguration } from './lifecycle.ts';
import { createModules } from './modules.ts';
import { createClosers, type OpenOptions, openSharedDependencies } from './shared-dependencies.ts';
import { createEngineStatus } from './status.ts';

export type { OpenOptions } from './shared-dependencies.ts';

export type Engine = Awaited<ReturnType<typeof openEngine>>;

/** Input and output of each operation, by its name: inferred from the declarations of all modules. */
export type Api = ApiOf<Engine['operations']['all'][number]>;

/** Workers find their git identity and their logins by HOME, which a service manager may not set. */
function withHome(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env.HOME) return env;
  try {
    return { ...env, HOME: homeOfUser(env) };
  } catch {
    return env; // the system knows none either
  }
}

/**
 * Opens a workspace: verifies that its data folder belongs to this machine, takes its lock, builds its modules, and
 * adopts an earlier host's sessions.
 */
export async function openEngine(options: OpenOptions) {
  const env = withHome(options.env ?? process.env);
  const clock = options.clock ?? systemClock;
  const startedAt = new Date(clock.now()).toISOString();
  const keeper = createConfigKeeper({
    file: options.file,
    env,
    ...(options.flags ? { flags: options.flags } : {}),
  });
  const paths = resolveDataPaths(keeper.loaded());
  const { lock, ...taken } = await takeDataFolder(keeper.loaded().root, paths, env);
  const { closing, unwind } = createClosers();
  closing(() => lock.release());

  try {
    const shared = openSharedDependencies(options, { ...taken, paths, env, clock, keeper, closing });
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

    await storage.write(() => events.append({ kind: 'engine_started', data: { pid: process.pid, version } }));
    watchConfiguration(shared, modules, keeper);
    closing(whenGone(storage, () => void stopWithoutFolder()));
    await startModules(shared, modules);
    void status.findContainment();
    log.info({ pid: process.pid, version, root }, 'engine open');

    return {
      ...host,
      startedAt,
      operations,
      callTool: createToolCalls(operations),
      onGone,
      onStopAsked,
      setHttp: status.setHttp,
      /** Stops listening, releases workers, closes the database, frees the lock. */
      async close() {
        log.info({}, 'engine closing');
        await storage.write(() => events.append({ kind: 'engine_stopped' })).catch(() => undefined);
        await unwind();
      },
    };
  } catch (error) {
    await unwind();
    throw error;
  }
}
