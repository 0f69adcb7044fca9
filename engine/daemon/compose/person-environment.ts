import { listSecretVariables } from '../../config/index.ts';
import {
  createForgeAccess,
  type Forge,
  type ForgeKind,
  type ForgeMemory,
  openForge,
} from '../../forge/index.ts';
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

/** Returns a function that opens code hosts, by the person's programs. */
export const createForgeOpener =
  (
    shared: Pick<SharedDependencies, 'env' | 'config' | 'clock'>,
  ): ((place: { kind: ForgeKind; host?: string | undefined }, memory?: ForgeMemory) => Forge) =>
  ({ kind, host = null }, memory) =>
    openForge(
      createForgeAccess({ env: buildPersonEnvironment(shared), now: shared.clock.now }),
      { kind, host },
      memory,
    );
