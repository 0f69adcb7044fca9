import { type ErrorCode, SvcError, toExitCode } from '../../../engine/core/base/errors.ts';
import { formatCount, toPrintable } from '../../../engine/core/base/text.ts';
import { parseOlder } from '../../arguments/older.ts';
import { type Command, defineCommand, repeatArgument } from '../../command.ts';

const archive = defineCommand({
  name: 'task archive',
  about: 'archive tasks: lists leave them out; their history stays',
  args: [
    { name: 'id', about: 'task ids, or unique prefixes', completes: 'task', optional: true, rest: true },
  ],
  flags: {
    ended: { type: 'boolean', about: 'all that have ended' },
    older: {
      type: 'string',
      value: 'age',
      about: 'with --ended: only tasks that ended longer ago, such as 30d',
    },
  },
  examples: ['task archive t-4 t-7', 'task archive --ended --older 30d'],
  async run(context) {
    const { args, flags } = context;
    if (flags.ended === args.length > 0)
      throw new SvcError('usage', 'name the tasks to archive, or give --ended', {
        hint: 'svc task archive t-4, or svc task archive --ended --older 30d',
      });
    if (flags.older !== undefined && !flags.ended) throw new SvcError('usage', '--older needs --ended');
    const client = await context.engine();
    const archived: string[] = [];
    const refused: { id: string; code: ErrorCode; reason: string }[] = [];
    for (let more = true; more; ) {
      const answer = await client.call(
        'task.archive',
        flags.ended
          ? { ended: true, ...(flags.older === undefined ? {} : { older_sec: parseOlder(flags.older) }) }
          : { ids: [...args] },
      );
      archived.push(...answer.archived);
      refused.push(...answer.refused);
      more = answer.more && !context.signal.aborted;
    }
    context.result({ archived, refused }, () =>
      archived.length === 0
        ? ''
        : `archived ${archived.length > 20 ? formatCount(archived.length, 'task') : archived.join(', ')}`,
    );
    for (const { id, reason } of refused) context.note(`${toPrintable(id)} is not archived: ${reason}`);
    if (archived.length === 0 && refused.length === 0) context.note('nothing to archive');
    const [first] = refused;
    return first === undefined ? 0 : toExitCode(first.code);
  },
});

const unarchive = defineCommand({
  name: 'task unarchive',
  about: 'put an archived task back into the lists',
  args: repeatArgument([{ name: 'id', about: 'task id, or a unique prefix', completes: 'task' }]),
  repeats: true,
  examples: ['task unarchive t-4'],
  async run(context) {
    const client = await context.engine();
    const { unarchived } = await client.call('task.unarchive', { ids: [context.arg(0)] });
    context.result({ unarchived }, () =>
      unarchived.length === 0
        ? `${context.arg(0)} was not archived`
        : `${unarchived.join(', ')} is listed again`,
    );
  },
});

export const archiveCommands: readonly Command[] = [archive, unarchive];
