import { z } from 'zod';
import { operation } from '../../core/api/operation.ts';
import { STATS_KINDS } from './read-history.ts';
import type { Stats } from './stats.ts';

/** The operation of the statistics. */
export const statsOperations = ({ stats }: { stats: Stats }) => [
  operation({
    name: 'stats.read',
    about:
      'Results of every kept task and session: outcomes, times, rework, tokens and money, by agent, project or UTC day; and when the queue is likely to end. `since` is RFC 3339.',
    seat: 'trusted',
    changes: false,
    input: z.strictObject({
      by: z.enum(STATS_KINDS).optional(),
      since: z.iso.datetime({ offset: true }).optional(),
    }),
    run: ({ by = 'agent', since }) => stats.read({ by, from: since === undefined ? 0 : Date.parse(since) }),
  }),
];
