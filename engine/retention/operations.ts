import { z } from 'zod';
import { by, operation } from '../api/operation.ts';
import type { DataRetention } from './retention.ts';

/** The operation of retention. */
export const retentionOperations = ({ retention }: { retention: DataRetention }) => [
  operation({
    name: 'data.clean',
    about:
      'Remove finished data that is older than the retain keys say, or than older_sec; nothing unmerged, and nothing that live data refers to.',
    seat: 'chair',
    changes: true,
    input: z.strictObject({ older_sec: z.number().min(0).optional(), dry_run: z.boolean().optional() }),
    run: ({ older_sec, dry_run = false }, caller) =>
      retention.clean({
        ...by(caller),
        olderMs: older_sec === undefined ? undefined : older_sec * 1000,
        isDryRun: dry_run,
      }),
  }),
];
