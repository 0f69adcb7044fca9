import { formatAge, formatLocalTime } from '../../../engine/core/base/text.ts';
import { parseNumberId } from '../../arguments/number-id.ts';
import { type Command, defineCommand } from '../../command.ts';
import { definePageFlags, showPage } from '../../pages.ts';
import { findStateStyle } from '../../paint.ts';
import { formatRows } from '../../print.ts';

const events = defineCommand({
  name: 'notify events',
  about: 'list every outbound event',
  examples: ['notify events'],
  async run(context) {
    const { EVENTS } = await (await import('../../../engine/index.ts')).catalogues();
    const rows = Object.entries(EVENTS).map(([event, description]) => ({ event, description }));
    const text = await formatRows(
      rows,
      [
        { head: 'event', value: (row) => row.event },
        { head: 'when', value: (row) => row.description, flexible: true },
      ],
      context.stdout,
    );
    context.result(rows, () => text);
  },
});

const deliveries = defineCommand({
  name: 'notify deliveries',
  about: 'list deliveries of outbound events, newest first',
  flags: {
    state: {
      type: 'string',
      short: 's',
      about: 'only in this state',
      choices: ['pending', 'delivered', 'dead'],
    },
    ...definePageFlags(50),
  },
  examples: ['notify deliveries', 'notify deliveries --state dead'],
  async run(context) {
    const { state } = context.flags;
    const filter = state === undefined ? {} : { state };
    const client = await context.engine();
    await showPage(context, {
      standard: 50,
      fetch: (part) => client.call('notify.deliveries', { ...filter, ...part }),
      count: () => client.call('notify.count', filter),
      getId: (row) => row.id,
      columns: [
        { head: 'id', value: (row) => row.id, right: true },
        { head: 'event', value: (row) => row.event },
        { head: 'state', value: (row) => row.state, style: (row) => findStateStyle(row.state) },
        { head: 'tries', value: (row) => row.attempts, right: true },
        { head: 'age', value: (row) => formatAge(row.created_at), right: true },
        { head: 'next', value: (row) => (row.state === 'pending' ? formatLocalTime(row.next_at) : null) },
        { head: 'answer', value: (row) => row.last_error ?? row.last_status },
        { head: 'to', value: (row) => row.url, flexible: true },
      ],
      empty: 'no deliveries; notify.webhooks and notify.push in svc.yaml set where events go',
    });
  },
});

const redeliver = defineCommand({
  name: 'notify redeliver',
  about: 'send a delivery again, with the same id',
  args: [{ name: 'id', about: 'number of the delivery', completes: 'delivery' }],
  examples: ['notify redeliver 12'],
  async run(context) {
    const client = await context.engine();
    const delivery = await client.call('notify.redeliver', {
      id: parseNumberId(context.args[0], 'delivery', 'svc notify deliveries'),
    });
    context.result(delivery, () => `${delivery.id} (${delivery.event}) is due now`);
  },
});

const test = defineCommand({
  name: 'notify test',
  about: 'send a test message to the webhooks and phones and wait for the answers',
  flags: {
    to: {
      type: 'string',
      value: 'target',
      about: 'only to this one: ntfy, telegram, or the url of an entry of notify.webhooks',
    },
  },
  examples: ['notify test', 'notify test --to telegram', 'notify test --to https://example.com/hook'],
  async run(context) {
    const { to } = context.flags;
    const client = await context.engine();
    const tried = await client.call('notify.test', to === undefined ? {} : { to });
    context.result(tried, (rows) =>
      rows
        .map(
          (row) => `${row.url}: ${row.state === 'delivered' ? 'delivered' : (row.last_error ?? row.state)}`,
        )
        .join('\n'),
    );
    return tried.every((row) => row.state === 'delivered') ? 0 : 1;
  },
});

export const notifyCommands: readonly Command[] = [events, deliveries, redeliver, test];
