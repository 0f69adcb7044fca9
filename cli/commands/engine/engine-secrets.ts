import { randomUUID } from 'node:crypto';
import {
  configuration,
  type EngineClient,
  type EngineStatus,
  SvcError,
  secretProof,
  type Wire,
} from '../../../engine/index.ts';

/** A variable that the caller has and the engine lacks, or has with another value. */
export interface DifferingSecret {
  name: string;
  state: 'missing' | 'other';
}

/** Compares the secrets of this environment with those that the engine was started with; none is sent. */
export async function findDifferingSecrets(
  client: EngineClient,
  { secrets }: Wire<Pick<EngineStatus, 'secrets'>>,
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
    // A worker is not told.
    if (error instanceof SvcError && error.code === 'chair_only') return [];
    throw error;
  }
}
