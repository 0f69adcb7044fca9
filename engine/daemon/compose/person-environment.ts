import { listSecretVariables } from '../../config/index.ts';
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
