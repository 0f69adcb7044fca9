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

/** Returns a function that opens code hosts, by the person's programs or the tokens that svc.yaml names. */
export function createForgeOpener(
  shared: Pick<SharedDependencies, 'env' | 'config' | 'clock' | 'currentSecret'>,
): (place: { kind: ForgeKind; host?: string | undefined }, memory?: ForgeMemory) => Forge {
  function findToken(host: string) {
    const variable = shared
      .config()
      .sources.map((source) =>
        source.kind === 'gitea' && source.host === host ? source.token_env : undefined,
      )
      .find((name) => name !== undefined);
    return variable === undefined ? null : { variable, value: shared.currentSecret(variable) };
  }
  return ({ kind, host = null }, memory) => {
    const env = buildPersonEnvironment(shared);
    const access = createForgeAccess({ env, now: shared.clock.now, findToken });
    return openForge(access, { kind, host }, memory);
  };
}
