import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { operation } from '../core/api/operation.ts';
import type { NamedSecret, SecretLookup } from './index.ts';

/** Returns a proof of a secret for comparison: useless without the secret, and different for every nonce. */
export const proveSecret = (secret: string, nonce: string): string =>
  createHmac('sha256', secret).update(nonce).digest('hex');

const isSameProof = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

/** Lets a client check whether the engine has the same secrets: an engine keeps the environment from its start. */
export const secretOperations = (deps: { secrets(): readonly NamedSecret[]; lookup: SecretLookup }) => [
  operation({
    name: 'engine.compare_secrets',
    about: 'The secrets that the engine lacks or that differ from the caller’s; no secret is sent.',
    seat: 'chair',
    changes: false,
    input: z.strictObject({
      nonce: z.string().min(16).max(200),
      proofs: z.record(z.string(), z.string()),
    }),
    run({ nonce, proofs }) {
      // One variable may serve several keys.
      const names = [...new Set(deps.secrets().map(({ name }) => name))];
      return names.flatMap((name): { name: string; state: 'missing' | 'other' }[] => {
        const proof = proofs[name];
        if (proof === undefined) return [];
        const own = deps.lookup(name);
        if (own === undefined) return [{ name, state: 'missing' }];
        return isSameProof(proof, proveSecret(own, nonce)) ? [] : [{ name, state: 'other' }];
      });
    },
  }),
];
