import { SvcError } from '../../../engine/core/base/errors.ts';
import { formatZonedTime, toPrintable } from '../../../engine/core/base/text.ts';
import { type Command, defineCommand, repeatArgument } from '../../command.ts';
import { definePageFlags, showPage } from '../../pages.ts';

const list = defineCommand({
  name: 'schedule list',
  about: 'list schedules: when each creates its next task, and why it created none',
  flags: definePageFlags(100),
  examples: ['schedule list'],
  async run(context) {
    const client = await context.engine();
    await showPage(context, {
      standard: 100,
      fetch: (part) => client.call('schedule.list', part),
      count: async () => (await client.call('schedule.list', {})).length,
      getId: ({ id }) => id,
      columns: [
        { head: 'id', value: ({ id }) => String(id), right: true },
        { head: 'every', value: ({ every }) => every },
        {
          head: 'next',
          value: ({ next_at: next, tz }) => (next === null ? 'never' : formatZonedTime(next, tz)),
        },
        { head: 'last', value: ({ last_task_id: last }) => last },
        {
          head: 'title',
          value: ({ title, problem }) => (problem === null ? title : `(${problem}) ${title}`),
          flexible: true,
        },
      ],
      empty: "no schedules; svc task add --every '0 6 * * 1' makes one",
    });
  },
});

const remove = defineCommand({
  name: 'schedule remove',
  about: 'remove a schedule; the tasks that it has created stay',
  args: repeatArgument([{ name: 'id', about: 'number of the schedule' }]),
  repeats: true,
  examples: ['schedule remove 3'],
  async run(context) {
    const id = Number(context.arg(0));
    if (!Number.isSafeInteger(id) || id < 1)
      throw new SvcError('not_found', `no schedule ${JSON.stringify(context.arg(0))}`, {
        hint: 'svc schedule list shows their numbers',
      });
    const client = await context.engine();
    const removed = await client.call('schedule.remove', { id });
    context.result(removed, ({ title }) => `schedule ${id} removed: ${toPrintable(title)}`);
  },
});

export const scheduleCommands: readonly Command[] = [list, remove];
