import { z } from 'zod';
import { by, operation } from '../../core/api/operation.ts';
import { asSvcError, type ErrorCode, SvcError } from '../../core/base/errors.ts';
import { id } from '../input.ts';
import type { BoardOperationsDeps } from './deps.ts';

/** Maximum number per call: others wait for its transaction. */
const MOST_AT_ONCE = 200;

/** Operations on the archive of tasks. */
export const archiveOperations = ({ tasks }: Pick<BoardOperationsDeps, 'tasks'>) => [
  operation({
    name: 'task.archive',
    about:
      'Archive tasks, so that lists omit them: the given tasks, or ended tasks, oldest first; `more` reports whether any are left.',
    seat: 'chair',
    changes: true,
    input: z.strictObject({
      ids: z.array(id).min(1).max(MOST_AT_ONCE).optional(),
      ended: z.boolean().optional(),
      older_sec: z.number().min(0).optional(),
    }),
    run: ({ ids, ended = false, older_sec = 0 }, caller, call) =>
      call.finish(() => {
        if ((ids === undefined) !== ended)
          throw new SvcError('usage', 'name the tasks to archive, or request ended ones');
        const wanted = ids ?? tasks.listArchivable(older_sec * 1000, MOST_AT_ONCE);
        const archived: string[] = [];
        const refused: { id: string; code: ErrorCode; reason: string }[] = [];
        for (const each of wanted) {
          const task = findTask(tasks, each);
          if ('reason' in task) {
            refused.push({ id: each, ...task });
            continue;
          }
          const reason = tasks.archive(task.taskId, by(caller));
          if (reason === null) archived.push(task.taskId);
          else refused.push({ id: each, code: 'conflict', reason });
        }
        return { archived, refused, more: ended && wanted.length === MOST_AT_ONCE && archived.length > 0 };
      }),
  }),
  operation({
    name: 'task.unarchive',
    about: 'Return archived tasks to the lists.',
    seat: 'chair',
    changes: true,
    input: z.strictObject({ ids: z.array(id).min(1).max(MOST_AT_ONCE) }),
    run: ({ ids }, caller, call) =>
      call.finish(() => {
        const found = ids.map((each) => tasks.resolve(each).taskId);
        return { unarchived: found.filter((each) => tasks.unarchive(each, by(caller))) };
      }),
  }),
];

/** Finds the task of an id or unique prefix, or the reason why there is none. */
function findTask(
  tasks: BoardOperationsDeps['tasks'],
  prefix: string,
): { taskId: string } | { code: ErrorCode; reason: string } {
  try {
    return { taskId: tasks.resolve(prefix).taskId };
  } catch (error) {
    const { code, message } = asSvcError(error);
    return { code, reason: message };
  }
}
