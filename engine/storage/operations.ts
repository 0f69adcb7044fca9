import { z } from 'zod';
import { cursor, parseNumberCursor } from '../core/api/cursor.ts';
import { checkOwnTask, operation } from '../core/api/operation.ts';
import type { EventLog } from './event-log.ts';

/** Creates the operations of clients on the event log. */
export function eventOperations({
  events,
  taskId,
}: {
  events: EventLog;
  /** Returns the full id of the only task that starts with this prefix. Throws `not_found`, `conflict`. */
  taskId(prefix: string): string;
}) {
  return [
    operation({
      name: 'event.list',
      about: 'Events, newest first; events.subscribe follows new ones.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        limit: z.int().min(1).max(10_000).optional(),
        cursor,
        task: z.string().min(1).optional(),
      }),
      run({ task, limit, cursor: last }, caller) {
        const wanted = task === undefined ? caller.ownWork?.taskId : taskId(task);
        if (wanted !== undefined) checkOwnTask(caller, wanted, wanted);
        return events.listEvents({
          limit,
          before: parseNumberCursor(last),
          ...(wanted === undefined ? {} : { taskId: wanted }),
        });
      },
    }),
  ];
}
