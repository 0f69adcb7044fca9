import { z } from 'zod';
import { cursor, parseNumberCursor } from '../core/api/cursor.ts';
import { operation } from '../core/api/operation.ts';
import { EVENTS } from './events.ts';
import type { Notify } from './index.ts';
import { DELIVERY_STATES } from './rows.ts';

/** Creates operations on outbound deliveries. */
export function notifyOperations(notify: Notify) {
  return [
    operation({
      name: 'notify.events',
      about: 'every outbound event with its meaning',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({}),
      run: () => Object.entries(EVENTS).map(([event, description]) => ({ event, description })),
    }),
    operation({
      name: 'notify.deliveries',
      about: 'deliveries of outbound events, newest first',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({
        state: z.enum(DELIVERY_STATES).optional(),
        limit: z.int().min(1).max(100_000).optional(),
        cursor,
      }),
      run: ({ cursor: last, ...filter }) => notify.list({ ...filter, before: parseNumberCursor(last) }),
    }),
    operation({
      name: 'notify.count',
      about: 'the number of kept deliveries, in all or in one state',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({ state: z.enum(DELIVERY_STATES).optional() }),
      run: ({ state }) => {
        const { pending, delivered, dead } = notify.counts();
        return state === undefined ? pending + delivered + dead : { pending, delivered, dead }[state];
      },
    }),
    operation({
      name: 'notify.redeliver',
      about: 'send a delivery again, under the same message id',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id: z.int().min(1) }),
      run: ({ id }) => notify.redeliver(id),
    }),
    operation({
      name: 'notify.test',
      about: 'send a test event to every target, or to one, and wait for the answers',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ to: z.string().min(1).optional() }),
      run: ({ to }) => notify.test(to),
    }),
  ];
}
