import { listSecretVariables } from '../../config/index.ts';
import { readProgramEnd } from '../../core/base/read-program-end.ts';
import { runProgram } from '../../core/base/run-program.ts';
import type { ForgePrograms } from '../../forge/index.ts';
import { listProviderVariables } from '../../gateway/index.ts';
import type { SharedDependencies } from './shared-dependencies.ts';

/**
 * Builds the environment of a person's own programs, such as ssh and gh: all variables but those that hold secrets of
 * svc.
 */
export function buildPersonEnvironment({
  env,
  config,
}: Pick<SharedDependencies, 'env' | 'config'>): NodeJS.ProcessEnv {
  const left = { ...env };
  for (const name of [...listSecretVariables(config()), ...listProviderVariables(config())])
    delete left[name];
  return left;
}

/** Limits of one request to a code host, made by the person's program. */
const FORGE_MS = 60_000;
const FORGE_BYTES = 32 * 1024 * 1024;
/** Limits of one log, of which only the end is kept. */
const LOG_MS = 180_000;
const LOG_BYTES = 4 * 1024 * 1024;

/** Runs the person's programs for requests to code hosts: not in a repository, whose settings a worker could have changed. */
export function createForgePrograms(
  shared: Pick<SharedDependencies, 'env' | 'config' | 'paths'>,
): ForgePrograms {
  const where = () => ({ cwd: shared.paths.data, env: buildPersonEnvironment(shared) });
  return {
    run: (program, args) =>
      runProgram(program, args, { ...where(), timeoutMs: FORGE_MS, mostBytes: FORGE_BYTES }),
    readEnd: (program, args) =>
      readProgramEnd(program, args, { ...where(), timeoutMs: LOG_MS, mostBytes: LOG_BYTES }),
  };
}
