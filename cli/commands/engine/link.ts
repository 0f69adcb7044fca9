import { text as readAll } from 'node:stream/consumers';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { formatLocalTime } from '../../../engine/core/base/text.ts';
import {
  describeLink,
  type EngineClient,
  type LinkStatus,
  ownSeat,
  type WireValue,
} from '../../../engine/index.ts';
import { agreeToTelemetry, findTerminalRefusal } from '../../agree-to-telemetry.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { formatFacts } from '../../print.ts';

const FIGURES =
  'daily figures, after the day ends: versions, system, numbers of tasks, decisions, runs and tokens; svc telemetry show prints them, svc telemetry off stops them';

/** The telemetry that is sent, according to the engine: its environment may refuse what svc.yaml allows. */
const describeTelemetry = (obstacle: string | null): string =>
  obstacle === null ? FIGURES : `none: ${obstacle}`;

/** The data that a linked server receives, in the order of docs/team/link-security.md. */
async function describeOutgoing(
  { cwd, env }: CommandContext,
  telemetry: string,
): Promise<[string, string][]> {
  const { configuration } = await import('../../../engine/index.ts');
  const { findWorkspace, loadConfig } = await configuration();
  const { server } = loadConfig({ file: findWorkspace({ cwd, env }).file, env }).config;
  const titles = {
    given: 'titles given by a person or an issue; otherwise the template or agent',
    all: 'all, including titles made from a prompt',
    none: 'none; the template or agent is shown instead',
  }[server.titles || 'given'];
  const deciders = Object.entries(server.decide).map(([name, ways]) => `${name} (${ways.join(', ')})`);
  return [
    [
      'events',
      `${server.events.length === 0 ? 'all outbound ones' : server.events.join(', ')}: ids, states, times, pages of pull requests, and reasons in svc's own words`,
    ],
    [
      'decisions',
      "pending ones: ids, source, handle of an outside author, length and fingerprint of what would run, and why they wait, in svc's own words",
    ],
    ['names', 'of the workspace, of its projects and of agents; the version of svc'],
    ['titles', titles],
    ['telemetry', telemetry],
    ['stays here', 'prompts, files, diffs, paths, branches, asks, and reasons that people typed'],
    [
      'decides',
      deciders.length === 0
        ? 'no one outside; server.decide names people and channels'
        : `${deciders.join(', ')}, ${server.decide_code ? 'approving with a one-time code' : 'without one-time codes: anyone who takes over the server can approve in their name'}`,
    ],
  ];
}

/** Workers and plain sessions may know the state of the link, but not the figures. */
const findTelemetry = (client: EngineClient): Promise<string> =>
  client.call('telemetry.show', {}).then(
    ({ obstacle }) => describeTelemetry(obstacle),
    (thrown: unknown) => {
      if (thrown instanceof SvcError && thrown.code === 'chair_only')
        return 'svc telemetry show prints it, in the Chair seat';
      throw thrown;
    },
  );

const formatLink = (link: WireValue<LinkStatus>): [string, string | null][] => [
  ['link', describeLink(link) ?? 'none'],
  ['account', link.account === null ? null : `${link.account}, linked by ${link.person ?? 'someone'}`],
  ['linked', link.linked_at === null ? null : formatLocalTime(link.linked_at)],
  ['token', link.token_at === null ? null : `${link.token_file}, made ${formatLocalTime(link.token_at)}`],
];

/** Shows what the server will receive; linking agrees to the parts that a person has to have seen. */
async function announce(context: CommandContext, client: EngineClient): Promise<void> {
  const { prohibition } = await client.call('telemetry.show', {});
  const outgoing = await describeOutgoing(
    context,
    describeTelemetry(prohibition ?? findTerminalRefusal(context)),
  );
  context.stdout.write(`the server will receive:\n${formatFacts(outgoing)}\n\n`);
}

const link = defineCommand({
  name: 'link',
  about:
    'link this workspace to the server that this machine is logged in to, after showing what the server will receive',
  details: [
    "The server receives outbound events and pending decisions: ids, states and times, names of the workspace, agents and projects, titles as server.titles allows, handles of outside authors, lengths and fingerprints, and reasons in svc's own words. Unless telemetry.work is off, the figures of each day follow when the day is over; svc telemetry show prints them.",
    'It never receives a prompt, a file, a diff, a path, a branch, an ask, or a reason that a person typed. The command prints what your settings send before it sends anything.',
  ],
  flags: {
    token: {
      type: 'string',
      value: '-',
      about: 'read a machine token from standard input: for a machine without its own svc login',
    },
    server: { type: 'string', value: 'url', about: 'the server that issued the token' },
  },
  examples: ['link', 'link --server https://svc.example.org --token - < token'],
  async run(context) {
    (await ownSeat()).refuseInsideRun('svc link', context.env);
    const { token: from, server } = context.flags;
    if (from !== undefined && from !== '-')
      throw new SvcError('usage', '--token takes - and reads the token from standard input', {
        hint: 'other users can read command lines',
      });
    const token = from === undefined ? undefined : (await readAll(context.stdin)).trim();
    if (token === '') throw new SvcError('usage', 'standard input has no token');
    const client = await context.engine();
    // Under --json no person has seen the figures, so none are sent.
    if (!context.json) await announce(context, client);
    await client.call('link.start', {
      ...(token === undefined ? {} : { token }),
      ...(server === undefined ? {} : { server }),
    });
    const { is_waiting, schema } = await client.call('telemetry.show', {});
    if (is_waiting && !context.json) await agreeToTelemetry(context, client, schema);
    context.result(await client.call('link.status', {}), (it) => formatFacts(formatLink(it)));
    return 0;
  },
});

const status = defineCommand({
  name: 'link status',
  about: 'show the linked server, the state of the link, and what the server receives',
  examples: ['link status', 'link status --json'],
  async run(context) {
    const client = await context.engine();
    const state = await client.call('link.status', {});
    const outgoing = await describeOutgoing(context, await findTelemetry(client));
    context.result(state, (it) =>
      it.server === null
        ? 'this workspace is not linked to a server; svc login URL, then svc link'
        : formatFacts([...formatLink(it), ...outgoing]),
    );
    return 0;
  },
});

const code = defineCommand({
  name: 'link code',
  about:
    'create the secret of the one-time codes that server.decide_code requires for approving from outside, and show it once',
  flags: { new: { type: 'boolean', about: 'replace an existing secret, which becomes invalid' } },
  examples: ['link code', 'link code --new'],
  async run(context) {
    const client = await context.engine();
    const made = await client.call('link.code', { new: context.flags.new });
    const { renderUnicodeCompact } = await import('uqr');
    const secret = new URL(made.address).searchParams.get('secret') ?? '';
    context.result(made, ({ address }) =>
      [
        renderUnicodeCompact(address, { border: 2 }),
        formatFacts([
          ['scan it', 'with an authenticator app; it is not shown again'],
          ['or type', secret.replace(/(.{4})(?=.)/g, '$1 ')],
          ['then', 'svc config set server.decide_code true'],
        ]),
      ].join('\n'),
    );
    return 0;
  },
});

const unlink = defineCommand({
  name: 'unlink',
  about: 'unlink this workspace: on the server first, then here in any case',
  examples: ['unlink'],
  async run(context) {
    const client = await context.engine();
    const done = await client.call('link.stop', {});
    context.result(done, ({ server }) =>
      server === null ? 'this workspace was not linked to a server' : `unlinked from ${server}`,
    );
    if (done.server !== null && !done.is_told)
      context.note(`${done.server} could not be reached: unlink the workspace there as well`);
    return 0;
  },
});

export const linkCommands: readonly Command[] = [link, status, code, unlink];
