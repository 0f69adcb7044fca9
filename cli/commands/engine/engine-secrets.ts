import { randomUUID } from 'node:crypto';
import { SvcError } from '../../../engine/core/base/errors.ts';
import {
  configuration,
  type EngineClient,
  type EngineStatus,
  secretProof,
  type WireValue,
} from '../../../engine/index.ts';

/** A variable of the caller that the engine lacks, or has with another value. */
export interface DifferingSecret {
  name: string;
  state: 'missing' | 'other';
}

/** Compares the secrets of this environment with those of the engine; sends none of them. */
export async function findDifferingSecrets(
  client: EngineClient,
  { secrets }: WireValue<Pick<EngineStatus, 'secrets'>>,
  env: NodeJS.ProcessEnv,
): Promise<DifferingSecret[]> {
  const { resolveMachineHome, readHome, createSecretLookup } = await configuration();
  const lookup = createSecretLookup(env, readHome(resolveMachineHome(env)));
  const { proveSecret } = await secretProof();
  const nonce = randomUUID();
  const proofs = Object.fromEntries(
    secrets.flatMap(({ name }) => {
      const secret = lookup(name);
      return secret === undefined ? [] : [[name, proveSecret(secret, nonce)]];
    }),
  );
  if (Object.keys(proofs).length === 0) return [];
  try {
    return await client.call('engine.compare_secrets', { nonce, proofs });
  } catch (error) {
    // Workers are not allowed to know.
    if (error instanceof SvcError && error.code === 'chair_only') return [];
    throw error;
  }
}
