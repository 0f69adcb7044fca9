import { text } from 'node:stream/consumers';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { parseDuration } from '../../../engine/core/base/values/duration.ts';
import { fleetMachine } from '../../../engine/index.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { getSvcCommand } from '../../self.ts';

const invite = defineCommand({
  name: 'runner invite',
  about: 'print a line by which one machine joins the fleet over its broker, valid once and for an hour',
  details: [
    'For a machine that ssh does not reach: it connects from inside outwards, and opens no port. The line is a secret until it is used.',
  ],
  flags: {
    name: { type: 'string', about: 'its name; by default that of its host' },
    pool: { type: 'string', about: 'the pool that it joins; by default default' },
    max: { type: 'number', value: 'workers', about: 'the most workers at a time; 4' },
  },
  examples: ['runner invite', 'runner invite --pool gpu --max 2'],
  async run(context) {
    const { name, pool, max } = context.flags;
    const client = await context.engine();
    const made = await client.call('runner.invite', {
      ...(name === undefined ? {} : { name }),
      ...(pool === undefined ? {} : { pool }),
      ...(max === undefined ? {} : { max }),
    });
    if (!context.json) context.note('on the other machine, within an hour:');
    context.result(made, ({ line }) => `svc runner join ${line}`);
  },
});

const join = defineCommand({
  name: 'runner join',
  about: 'let workers of a fleet run on this machine, with the line of svc runner invite',
  details: [
    'This machine creates its own keys, connects to the broker of the fleet, and keeps running in the background; `svc runner start` starts it again after a restart of the machine.',
    'The board sends prompts and commits. It has no shell here: besides the agents that svc knows, only commands run that you agree to with `svc runner trust`. `runner.yaml` in the machine home restricts it further.',
  ],
  args: [{ name: 'line', about: 'the line, or - to read it from standard input' }],
  flags: {
    name: { type: 'string', about: 'its name; by default that of this host' },
    once: { type: 'boolean', about: 'stay in the foreground for one run, then leave the fleet' },
    'idle-exit': {
      type: 'string',
      value: 'time',
      about: 'stay in the foreground, and leave the fleet after so long without a run, such as 10m',
    },
  },
  examples: ['runner join svcj1.eyJmbGVldCI6…', 'runner join - < line.txt'],
  async run(context) {
    const { env, signal } = context;
    const line = context.arg(0) === '-' ? await text(context.stdin) : context.arg(0);
    const { loadJoinFleet, startMachine } = await fleetMachine();
    const { joinFleet } = await loadJoinFleet();
    const { name, once = false, 'idle-exit': idle } = context.flags;
    const idleMs = idle === undefined ? null : parseDuration(idle);
    const joined = await joinFleet(line, name ?? null, env);
    if (once || idleMs !== null) {
      context.note(`joined as ${joined.name} (${joined.runner})`);
      return stayFor(joined.fleet, { isOnce: once, idleMs }, context);
    }
    await startMachine(joined.fleet, { env, svc: getSvcCommand(), signal });
    context.result(
      joined,
      ({ name, runner }) => `joined as ${name} (${runner}); it runs, and svc runner start runs it again`,
    );
  },
});

/** Runs this machine in the foreground until it leaves its fleet; a signal makes it finish its runs and leave. */
async function stayFor(
  fleet: string,
  life: { isOnce: boolean; idleMs: number | null },
  { env, signal }: Pick<CommandContext, 'env' | 'signal'>,
): Promise<number> {
  const { serveBoard } = await fleetMachine();
  const host = await serveBoard(fleet, { env, svc: getSvcCommand(), life });
  if (signal.aborted) host.finish();
  signal.addEventListener('abort', host.finish, { once: true });
  await host.closed;
  return 0;
}

const start = defineCommand({
  name: 'runner start',
  about: 'run this machine for the fleets that it has joined, unless it runs already',
  examples: ['runner start'],
  async run(context) {
    const { env, signal } = context;
    const { listJoinedFleets, startMachine } = await fleetMachine();
    const fleets = listJoinedFleets(env);
    if (fleets.length === 0)
      throw new SvcError('not_found', 'this machine has joined no fleet', {
        hint: 'svc runner join LINE, with the line that svc runner invite prints on the machine of the board',
      });
    for (const fleet of fleets) await startMachine(fleet, { env, svc: getSvcCommand(), signal });
    context.result({ fleets }, () => `runs for ${fleets.join(', ')}`);
  },
});

const trust = defineCommand({
  name: 'runner trust',
  about: 'agree on this machine to commands of a board, by the digest that a refused run names',
  args: [{ name: 'digest', about: '16 hexadecimal digits' }],
  examples: ['runner trust 3f0c4a527d1e4c0b'],
  async run(context) {
    const { trustCommands } = await fleetMachine();
    const digest = context.arg(0);
    trustCommands(digest, context.env);
    context.result({ digest }, () => `commands with the digest ${digest} may run here`);
  },
});

/** Commands for machines that join over a broker. */
export const joinCommands: readonly Command[] = [invite, join, start, trust];
