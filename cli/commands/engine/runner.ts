import { randomUUID } from 'node:crypto';
import { EXIT, SvcError } from '../../../engine/core/base/errors.ts';
import { formatGib, formatLocalTime, toPrintable } from '../../../engine/core/base/text.ts';
import {
  describeMachineAgents,
  fleetMachine,
  type RunnerInspection,
  type WireValue,
} from '../../../engine/index.ts';
import { type Command, defineCommand } from '../../command.ts';
import { askForYes } from '../../confirm.ts';
import { definePageFlags, showPage } from '../../pages.ts';
import { formatFacts } from '../../print.ts';
import { getSvcCommand } from '../../self.ts';
import { joinCommands } from './runner-join.ts';

type Inspection = WireValue<RunnerInspection>;

/** Writes what was found on a host, and what would be sent there. */
function formatInspection(found: Inspection, pool: string): string {
  const { system, processor, node, git, svc, bubblewrap, sandbox, linger } = found;
  return formatFacts([
    [
      'system',
      `${system} ${processor}, ${found.cpu_count} processors, ${formatGib(found.memory_bytes)} memory`,
    ],
    ['disk', `${formatGib(found.disk_free_bytes)} free`],
    ['node', node === null ? 'none; the one of this machine is copied' : node.version],
    ['git', git ?? 'none: install it there'],
    ['svc', svc === null ? 'none; this one is copied' : svc.version],
    ['agents', describeMachineAgents(found.agents)],
    [
      'sandbox',
      sandbox
        ? 'bubblewrap works'
        : bubblewrap
          ? 'bubblewrap is installed, but does not work'
          : 'none: no strict worker',
    ],
    [
      'linger',
      linger === null ? null : linger ? 'on' : 'off: its workers may end with your last login there',
    ],
    ...found.projects.map(({ project, is_shared: isShared }): [string, string] => [
      'project',
      `${project}: ${isShared ? `shared with the pool ${pool}` : 'not shared; --share sends its prompts, briefs and commits'}`,
    ]),
  ]);
}

const add = defineCommand({
  name: 'runner add',
  about: 'let workers run on another machine: inspects it over ssh, asks, and installs this program',
  details: [
    'HOST is a host of ~/.ssh/config. --via names another command that runs a shell there, such as `docker exec -i box` or `kubectl exec -i pod --`.',
    'Sent to it are the prompts, briefs and notes of its runs, and the commits of projects that are shared with its pool. Logins, environment files, ignored files, other branches and keys stay here.',
  ],
  args: [{ name: 'host', about: '[user@]host of ~/.ssh/config' }],
  flags: {
    name: { type: 'string', about: 'its name; by default the host' },
    pool: { type: 'string', about: 'the pool that it joins; by default default' },
    max: { type: 'number', value: 'workers', about: 'the most workers at a time; 4' },
    via: { type: 'string', value: 'command', about: 'a command that replaces ssh' },
    share: { type: 'string', value: 'project', multiple: true, about: 'share a project with its pool' },
    yes: { type: 'boolean', short: 'y', about: 'answer yes' },
  },
  examples: [
    'runner add box2',
    'runner add ada@gpu.lan --pool gpu --max 2 --share api',
    "runner add box --via 'docker exec -i box'",
  ],
  async run(context) {
    const { name, pool, max, via, yes } = context.flags;
    const host = context.arg(0);
    const client = await context.engine();
    const wanted = {
      host,
      ...(name === undefined ? {} : { name }),
      ...(pool === undefined ? {} : { pool }),
      ...(via === undefined ? {} : { via }),
    };
    const { signal } = context;
    const onProgress = context.note;
    const found = await client.run('runner.inspect', wanted, { key: randomUUID(), signal });
    context.note(toPrintable(formatInspection(found, pool ?? 'default'), { lines: true }));
    let share = context.flags.share ?? [];
    if (!yes) {
      if (!context.stdin.isTTY || context.json)
        throw new SvcError('usage', 'no terminal is available to ask on', {
          hint: `svc runner add ${host} --yes adds what was shown`,
        });
      const others = found.projects
        .filter(({ is_shared: isShared }) => !isShared)
        .map(({ project }) => project);
      if (share.length === 0)
        for (const project of others)
          if (
            await askForYes(context, `May the project ${project} be sent to the pool ${pool ?? 'default'}?`)
          )
            share = [...share, project];
      if (!(await askForYes(context, `Install svc on ${host} and let workers run there?`))) {
        context.note('nothing was changed');
        return EXIT.failure;
      }
    }
    const input = { ...wanted, share, ...(max === undefined ? {} : { max }) };
    const added = await client.run('runner.add', input, { key: randomUUID(), signal, onProgress });
    context.result(added, ({ id, name: given, pool: joined, projects }) =>
      projects.length === 0
        ? `${given} (${id}) is in the pool ${joined}; svc project share PROJECT --pool ${joined} sends it work`
        : `${given} (${id}) is in the pool ${joined}; svc task run TASK --on ${given}`,
    );
    return 0;
  },
});

const list = defineCommand({
  name: 'runner list',
  about: 'list the machines that run workers, what each does, and why it takes no work',
  flags: definePageFlags(100),
  examples: ['runner list', 'runner list --json'],
  async run(context) {
    const client = await context.engine();
    await showPage(context, {
      standard: 100,
      fetch: (part) => client.call('runner.list', part),
      count: async () => (await client.call('runner.list', {})).length,
      getId: (row) => row.id,
      columns: [
        { head: 'id', value: (row) => row.id },
        { head: 'name', value: (row) => row.name },
        { head: 'pool', value: (row) => row.pool },
        { head: 'workers', value: (row) => `${row.running} of ${row.max}` },
        {
          head: 'state',
          value: (row) => row.state,
          style: ({ state }) => (['silent', 'lost', 'revoked'].includes(state) ? 'warn' : undefined),
        },
        { head: 'load', value: (row) => (row.load === null ? null : row.load.toFixed(1)) },
        {
          head: 'disk',
          value: (row) => (row.disk_free_bytes === null ? null : formatGib(row.disk_free_bytes)),
        },
        { head: 'since', value: (row) => (row.since === null ? null : formatLocalTime(row.since)) },
        { head: 'agents', value: (row) => describeMachineAgents(row.agents) },
        { head: 'why', value: (row) => row.reason, flexible: true },
      ],
      empty: 'no machines; svc runner add HOST adds one',
    });
  },
});

const drain = defineCommand({
  name: 'runner drain',
  about: 'let a machine finish its runs without getting new ones',
  args: [{ name: 'name', about: 'its name or id' }],
  flags: { undo: { type: 'boolean', about: 'let it get runs again' } },
  examples: ['runner drain box2', 'runner drain box2 --undo'],
  async run(context) {
    const client = await context.engine();
    const { undo } = context.flags;
    const drained = await client.call('runner.drain', { name: context.arg(0), ...(undo ? { undo } : {}) });
    context.result(drained, ({ name, running, max }) =>
      undo ? `${name} gets runs again` : `${name} gets no new run; ${running} of ${max} are still at work`,
    );
  },
});

const revoke = defineCommand({
  name: 'runner revoke',
  about: 'cut a machine off at once, for good; its runs continue on others of its pool, from what was saved',
  details: [
    'For a machine that is lost or not trusted any more: nothing that it reports counts from then on. `svc runner drain` lets one finish its runs.',
  ],
  args: [{ name: 'name', about: 'its name or id' }],
  examples: ['runner revoke box2'],
  async run(context) {
    const client = await context.engine();
    const revoked = await client.call('runner.revoke', { name: context.arg(0) });
    context.result(revoked, ({ name, sessions }) =>
      sessions.length === 0
        ? `${name} is cut off; nothing ran there`
        : `${name} is cut off; ${sessions.join(', ')} ${sessions.length === 1 ? 'continues' : 'continue'} elsewhere`,
    );
  },
});

const remove = defineCommand({
  name: 'runner remove',
  about: 'take a machine out of the fleet; removes svc, worktrees and mirrors there',
  args: [{ name: 'name', about: 'its name or id' }],
  flags: {
    force: { type: 'boolean', about: 'also if sessions have unfinished work there, or it cannot be reached' },
  },
  examples: ['runner remove box2'],
  async run(context) {
    const client = await context.engine();
    const { force } = context.flags;
    const removed = await client.call('runner.remove', { name: context.arg(0), ...(force ? { force } : {}) });
    context.result(removed, ({ name, left }) =>
      left === null
        ? `${name} was removed`
        : `${name} was removed here; it could not be cleaned up there: ${left}`,
    );
  },
});

const fleetArgument = [{ name: 'fleet', about: 'the id of the fleet' }] as const;

/** Started by the board over ssh: joins its streams to the runner of the machine. */
const connect = defineCommand({
  name: 'runner connect',
  about: 'join standard input and output to the runner of a fleet on this machine',
  hidden: true,
  args: fleetArgument,
  examples: ['runner connect 3f0c4a52-7d1e-4c0b-9f56-0a4e6c1b2d3e'],
  async run({ arg, env, stdin, stdout, signal }) {
    const { connectMachine } = await fleetMachine();
    await connectMachine(arg(0), { env, svc: getSvcCommand(), input: stdin, output: stdout, signal });
  },
});

const serve = defineCommand({
  name: 'runner serve',
  about: 'run workers of a fleet on this machine; svc runner connect starts it',
  hidden: true,
  args: fleetArgument,
  examples: ['runner serve 3f0c4a52-7d1e-4c0b-9f56-0a4e6c1b2d3e'],
  async run({ arg, env, signal }) {
    const { serveBoard } = await fleetMachine();
    const host = await serveBoard(arg(0), { env, svc: getSvcCommand() });
    if (signal.aborted) await host.close();
    signal.addEventListener('abort', () => void host.close(), { once: true });
    await host.closed;
  },
});

/** Started by `svc runner remove`; by hand on a machine whose board is gone. */
const leave = defineCommand({
  name: 'runner leave',
  about: 'end the runner of a fleet on this machine, and remove its folders with all work in them',
  args: fleetArgument,
  examples: ['runner leave 3f0c4a52-7d1e-4c0b-9f56-0a4e6c1b2d3e'],
  async run({ arg, env }) {
    const { leaveFleet } = await fleetMachine();
    await leaveFleet(arg(0), env);
  },
});

export const runnerCommands: readonly Command[] = [
  add,
  ...joinCommands,
  list,
  drain,
  revoke,
  remove,
  connect,
  serve,
  leave,
];
