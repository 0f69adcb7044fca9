import { resolveDataPaths } from '../../config/index.ts';
import { createConfigKeeper } from '../../config/keeper.ts';
import type { ApiOf } from '../../core/api/operation.ts';
import { homeOfUser } from '../../core/base/account.ts';
import { systemClock } from '../../core/base/clock.ts';
import { createClosers } from './closers.ts';
import { takeDataFolder } from './data-folder.ts';
import type { OpenOptions } from './shared-dependencies.ts';

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
  const taking = takeDataFolder(keeper.loaded().root, paths, env);
  taking.catch(() => undefined);
  // Loaded while git looks for tracked files.
  const { buildEngine } = await import('./build.ts');
  const { lock, ...taken } = await taking;
  const { closing, unwind } = createClosers();
  closing(() => lock.release());
  try {
    return await buildEngine({ ...taken, options, paths, env, clock, startedAt, keeper, closing, unwind });
  } catch (error) {
    await unwind();
    throw error;
  }
}
