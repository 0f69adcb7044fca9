import { z } from 'zod';
import { cursor, takePage } from '../../core/api/cursor.ts';
import { by, operation } from '../../core/api/operation.ts';
import type { TaskWish } from '../operations/task-actions.ts';
import { newTaskInput } from '../operations/tasks.ts';
import type { Schedules } from './index.ts';

/** Operations on schedules. A worker has none of them. */
export const scheduleOperations = (schedules: Schedules<TaskWish>) => [
  operation({
    name: 'schedule.add',
    about:
      'Create a schedule: a task at each time of a cron expression, which waits for approval. Times that passed while no engine ran create one task, and none is created until the last one has ended.',
    seat: 'chair',
    changes: true,
    input: newTaskInput.omit({ after: true }).extend({
      every: z.string().trim().min(1).max(200),
      tz: z.string().trim().min(1).max(100).optional(),
    }),
    run: ({ every, tz, ...wish }, caller, call) =>
      call.finish(() =>
        schedules.add(
          { every, tz: tz ?? new Intl.DateTimeFormat().resolvedOptions().timeZone, wish },
          caller,
        ),
      ),
  }),
  operation({
    name: 'schedule.list',
    about: 'The schedules, with their next time, their last task, and why the last time created none.',
    seat: 'trusted',
    changes: false,
    input: z.strictObject({ limit: z.int().min(1).max(100_000).optional(), cursor }),
    run: (part) => takePage(schedules.list(), part, ({ id }) => String(id)),
  }),
  operation({
    name: 'schedule.remove',
    about: 'Remove a schedule; the tasks that it has created stay.',
    seat: 'chair',
    changes: true,
    input: z.strictObject({ id: z.int().min(1) }),
    run: ({ id }, caller, call) => call.finish(() => schedules.remove(id, by(caller))),
  }),
];
