import { SvcError } from '../../../engine/core/base/errors.ts';
import { formatAge, formatCount } from '../../../engine/core/base/text.ts';
import { type Command, defineCommand } from '../../command.ts';

const init = defineCommand({
  name: 'fleet init',
  about: 'create the broker by which machines join that ssh does not reach, and start it',
  details: [
    'Needs nats-server 2.9.10 or later on this machine. Everything that passes through it is encrypted between the engine and each machine; it stores nothing. It runs with the engine.',
  ],
  flags: {
    host: {
      type: 'string',
      multiple: true,
      value: 'host',
      about: 'a name or address by which machines reach this one; several are tried in turn',
    },
    listen: { type: 'string', value: 'address', about: 'where it listens; 0.0.0.0:4222' },
  },
  examples: [
    'fleet init --host chair.lan',
    'fleet init --host chair.lan --host 10.0.0.5 --listen 10.0.0.5:4222',
  ],
  async run(context) {
    const { host = [], listen } = context.flags;
    if (host.length === 0)
      throw new SvcError('usage', 'name the host by which other machines reach this one', {
        hint: 'svc fleet init --host chair.lan',
      });
    const client = await context.engine();
    const made = await client.call('fleet.init', { host, ...(listen === undefined ? {} : { listen }) });
    context.result(
      made,
      ({ servers, listen: where }) =>
        `the broker listens at ${where}; machines reach it at ${servers.join(', ')}\nsvc runner invite prints the line for one of them`,
    );
  },
});

const status = defineCommand({
  name: 'fleet status',
  about: 'show what waits and runs in each pool of machines, and whether the broker works',
  examples: ['fleet status', 'fleet status --json'],
  async run(context) {
    const client = await context.engine();
    const shown = await client.call('fleet.status', {});
    context.result(shown, ({ at, broker, pools }) =>
      [
        broker === null
          ? 'broker    none; svc fleet init creates one for machines that ssh does not reach'
          : `broker    ${broker.problem ?? `works, at ${broker.servers.join(', ')}`}`,
        ...pools.map(({ pool, machines, running, free, waiting, oldest }) => {
          const since = oldest === null ? '' : `, the oldest for ${formatAge(oldest, Date.parse(at))}`;
          return `${pool.padEnd(9)} ${formatCount(machines, 'machine')}, ${running} running, ${free} free, ${waiting} waiting${since}`;
        }),
      ].join('\n'),
    );
  },
});

export const fleetCommands: readonly Command[] = [init, status];
