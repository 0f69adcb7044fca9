import { z } from 'zod';
import { operation } from '../../../core/api/operation.ts';
import type { Storage } from '../../../storage/index.ts';
import type { SeatRegistry } from './seats.ts';

/** Operations on the caller's own seat. */
export const seatOperations = ({ storage, seats }: { storage: Storage; seats: SeatRegistry }) => [
  operation({
    name: 'seat.leave',
    about:
      'Ends the caller’s own session, unless other processes share it; a worker’s session ends with its run.',
    seat: 'any',
    changes: false,
    input: z.strictObject({}),
    run: (_input, { sessionId, seat }) =>
      storage.write(() => ({
        left:
          sessionId !== null &&
          seat !== 'worker' &&
          seats.holders(sessionId) <= 1 &&
          seats.close(sessionId, 'it left'),
      })),
  }),
];
