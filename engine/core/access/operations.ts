import { z } from 'zod';
import { tool } from '../api/tool.ts';
import type { EntitlementsReader } from './entitlements.ts';

/** Creates the operations on entitlements, for agents and people. */
export const entitlementsOperations = ({ entitlements }: { entitlements: EntitlementsReader }) => [
  tool({
    name: 'entitlements.status',
    about:
      'Plan, lease, quotas with their use, and every capability, allowed or locked, with the reason and the remedy. Answered from memory; a workspace without a linked server has no quota.',
    seat: 'any',
    changes: false,
    input: z.strictObject({}),
    output: z.looseObject({
      linked: z.boolean(),
      plan: z.string().nullable(),
      quotas: z.array(z.looseObject({ name: z.string(), limit: z.int().nullable() })),
      capabilities: z.array(z.looseObject({ name: z.string(), allowed: z.boolean() })),
    }),
    run: () => ({ ...entitlements.status() }),
  }),
];
