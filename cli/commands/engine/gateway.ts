import { SvcError } from '../../../engine/core/base/errors.ts';
import { formatCost, formatCount, formatLocalTime } from '../../../engine/core/base/text.ts';
import type { Api, EngineClient, GatewayState, WireValue } from '../../../engine/index.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { type GatewayTrial, TRIED_PROTOCOLS, tryProtocol, withTrialKey } from '../../gateway-trials.ts';
import { formatFacts, formatRows } from '../../print.ts';
import { gatewayEnv, gatewayRun, removeRouteFiles } from './gateway-agents.ts';

type ProviderState = WireValue<GatewayState>['providers'][number];

const formatTokens = (tokens: number): string => tokens.toLocaleString('en-US');

/** Models to request from a provider: in the second case it offers a single model. */
const describeModel = ({ model, own_model: own }: ProviderState): string =>
  model || (own === '' ? 'models by name only' : `any model, ${own} for svc/auto`);

function formatState(state: WireValue<GatewayState>): string {
  const { pid, version, memory_bytes, host, port, mode, active, calls, budget_tokens_day: budget } = state;
  const spent = `${formatTokens(state.spent_today)} tokens today`;
  return formatFacts([
    [
      'gateway',
      `pid ${pid}, version ${version}, ${Math.round(memory_bytes / 1024 ** 2)} MB, since ${formatLocalTime(state.started_at)}`,
    ],
    ['address', `http://${host.includes(':') ? `[${host}]` : host}:${port}`],
    ['mode', mode === 'stub' ? 'stub: answers are canned; ai.mode live asks real models' : mode],
    ['calls', `${active} in progress, ${calls} so far`],
    ...state.content_of.map((each): [string, string] => ['content', `of ${each} is logged`]),
    ['spent', budget === 0 ? spent : `${spent}, of ${formatTokens(budget)}`],
    ...state.providers.map((each): [string, string] => [
      `provider ${each.name}`,
      [
        `${each.tier}, ${describeModel(each)}, ${each.protocols.join('+')}`,
        each.has_key || each.tier === 'local' ? null : 'without a key',
        each.models === null ? null : `lists ${formatCount(each.models, 'model')}`,
        each.cool_until === null
          ? null
          : `tried last until ${formatLocalTime(new Date(each.cool_until).toISOString())}`,
        each.last_failure === null ? null : `last error: ${each.last_failure.what}`,
      ]
        .filter((part) => part !== null)
        .join('; '),
    ]),
  ]);
}

const status = defineCommand({
  name: 'gateway status',
  about: 'show the gateway: process, mode, budget and providers',
  examples: ['gateway status', 'gateway status --json'],
  async run(context) {
    const client = await context.engine();
    const state = await client.call('gateway.status', {});
    context.result(state, (found) =>
      found === null
        ? 'the gateway is not running; the first routed run starts it, or svc gateway serve'
        : formatState(found),
    );
    return state === null ? 1 : 0;
  },
});

const serve = defineCommand({
  name: 'gateway serve',
  about: 'start the gateway if needed, and wait for Ctrl-C; the gateway keeps running in the background',
  flags: { allowRemote: { type: 'boolean', about: 'allow an address that other machines can reach' } },
  examples: ['gateway serve'],
  async run(context) {
    const client = await context.engine();
    const { url } = await client.call('gateway.serve', { allow_remote: context.flags.allowRemote });
    context.result({ url }, () => `gateway on ${url}`);
    if (!context.stdout.isTTY) return;
    context.note('Ctrl-C leaves it running; svc gateway stop ends it');
    await new Promise<void>((resolve) => {
      if (context.signal.aborted) resolve();
      context.signal.addEventListener('abort', () => resolve(), { once: true });
      void client.closed.then(resolve);
    });
  },
});

const stop = defineCommand({
  name: 'gateway stop',
  about: 'stop the gateway after it has answered its open calls',
  examples: ['gateway stop'],
  async run(context) {
    const client = await context.engine();
    await client.call('gateway.stop', {});
    context.result({ stopped: true }, () => 'the gateway accepts no more calls');
  },
});

const test = defineCommand({
  name: 'gateway test',
  about: 'send one tiny call in each protocol; in mode live each costs a few tokens',
  flags: { model: { type: 'string', about: 'model to request (svc)' } },
  examples: ['gateway test', 'gateway test --model svc/cloud/gpt-5'],
  async run(context) {
    const client = await context.engine();
    const { url } = await client.call('gateway.serve', {});
    const rows = await withTrialKey(client, 'test', async (key) => {
      const tried: GatewayTrial[] = [];
      for (const protocol of TRIED_PROTOCOLS)
        tried.push(await tryProtocol(url, key, protocol, context.flags.model ?? 'svc'));
      return tried;
    });
    const text = await formatRows(
      rows,
      [
        { head: 'protocol', value: (row) => row.protocol },
        { head: 'model', value: (row) => row.model },
        { head: 'status', value: (row) => row.status, right: true },
        { head: 'ms', value: (row) => row.ms, right: true },
        { head: 'answered by', value: (row) => row.provider ?? (row.is_stub ? 'the stub' : null) },
        { head: 'problem', value: (row) => row.problem, flexible: true },
      ],
      context.stdout,
    );
    context.result(rows, () => text);
    return rows.every(({ problem }) => problem === null) ? 0 : 1;
  },
});

const keys = defineCommand({
  name: 'gateway keys',
  about: 'list personal keys for your own agents; add NAME and remove NAME change them',
  args: [
    {
      name: 'action',
      about: 'list (the default), add or remove',
      optional: true,
      choices: ['list', 'add', 'remove'],
    },
    { name: 'name', about: 'name of the key', optional: true },
  ],
  examples: ['gateway keys', 'gateway keys add laptop', 'gateway keys remove laptop'],
  async run(context) {
    const client = await context.engine();
    const [action, name] = context.args;
    if (action === undefined || action === 'list') return listKeys(context, client);
    if (name === undefined) throw new SvcError('usage', `svc gateway keys ${action} needs a name`);
    if (action === 'remove') {
      const removed = await client.call('gateway.remove_key', { name });
      removeRouteFiles(client, name);
      context.result(removed, () => `the key ${name} no longer opens the gateway`);
      return;
    }
    const added = await client.call('gateway.add_key', { name });
    context.result(added, ({ key }) => key);
    context.note('it is shown only once; svc keeps only its hash');
  },
});

async function listKeys(context: CommandContext, client: EngineClient): Promise<void> {
  const rows = await client.call('gateway.keys', {});
  const text = await formatRows(
    rows,
    [
      { head: 'name', value: (row) => row.name },
      { head: 'made', value: (row) => formatLocalTime(row.created_at) },
    ],
    context.stdout,
  );
  context.result(rows, () => text);
  if (rows.length === 0) context.note('no personal keys; svc gateway keys add NAME makes one');
}

const log = defineCommand({
  name: 'gateway log',
  about: 'log the content of the model calls of one session (off by default)',
  args: [
    {
      name: 'session',
      about: 'session to log; without one, list what is logged',
      optional: true,
      completes: 'session',
    },
  ],
  flags: {
    key: { type: 'string', value: 'name', about: 'log the calls of a personal key, instead of a session' },
    off: { type: 'boolean', about: 'stop logging; existing logs stay' },
  },
  examples: ['gateway log s-12', 'gateway log s-12 --off', 'gateway log --key laptop'],
  async run(context) {
    const [session] = context.args;
    const { key, off } = context.flags;
    const client = await context.engine();
    const { logged } = await client.call('gateway.log_content', {
      ...(session === undefined ? {} : { session }),
      ...(key === undefined ? {} : { key }),
      on: off !== true,
    });
    const text = await formatRows(
      logged,
      [
        { head: 'content of', value: (row) => row.of },
        { head: 'file', value: (row) => row.file },
      ],
      context.stdout,
    );
    context.result(logged, () => text);
    if (logged.length === 0) context.note('the content of no call is logged');
    else context.note('one line per call; delete the file when you have seen enough');
  },
});

const GROUPS = ['session', 'worker', 'task', 'person', 'provider', 'model', 'protocol', 'day'] as const;

type Sum = Pick<
  Api['gateway.usage']['output']['rows'][number],
  | 'calls'
  | 'failed'
  | 'denied'
  | 'input'
  | 'output'
  | 'cache_read'
  | 'cache_write'
  | 'estimated'
  | 'estimated_tokens'
  | 'cost_usd'
  | 'unpriced'
>;

const usage = defineCommand({
  name: 'gateway usage',
  about: 'tokens and money that calls through the gateway have used',
  flags: {
    days: { type: 'number', value: 'n', about: 'number of UTC days, including today (1)' },
    by: { type: 'string', about: 'group by (provider)', choices: GROUPS },
  },
  examples: ['gateway usage', 'gateway usage --by session --days 7'],
  async run(context) {
    const { days = 1, by = 'provider' } = context.flags;
    const client = await context.engine();
    const found = await client.call('gateway.usage', { days, by });
    type Row = Sum & { key: string | null };
    const rows: Row[] = found.rows.length > 1 ? [...found.rows, { ...found.total, key: 'all' }] : found.rows;
    const column = (head: string, value: (row: Row) => number) => ({
      head,
      right: true,
      value: (row: Row) => formatTokens(value(row)),
    });
    const text = await formatRows<Row>(
      rows,
      [
        { head: by, value: (row) => row.key },
        column('calls', (row) => row.calls),
        column('input', (row) => row.input),
        column('cached', (row) => row.cache_read),
        column('to cache', (row) => row.cache_write),
        column('output', (row) => row.output),
        { head: 'cost', right: true, value: (row) => formatCost(row.cost_usd, row) },
        column('estimated', (row) => row.estimated_tokens),
        column('failed', (row) => row.failed),
        column('denied', (row) => row.denied),
      ],
      context.stdout,
    );
    context.result(found, () => text);
    const isOwn = found.of_session !== null;
    if (isOwn) context.note('only the calls of this session are counted; the Chair sees all calls');
    if (rows.length === 0)
      context.note(`no calls ${isOwn ? 'of this session ' : ''}went through the gateway`);
    else if (found.total.unpriced > 0)
      context.note(`${formatTokens(found.total.unpriced)} tokens have no known price; ai.prices can set it`);
  },
});

export const gatewayCommands: readonly Command[] = [
  serve,
  status,
  stop,
  gatewayRun,
  gatewayEnv,
  test,
  keys,
  log,
  usage,
];
