import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  agentPrograms,
  configuration,
  type EngineClient,
  findWorkspace,
  formatLocalTime,
  type GatewayState,
  SvcError,
  type Wire,
} from '../../engine/index.ts';
import { type Command, type Context, defineCommand } from '../command.ts';
import { formatFacts, formatRows } from '../print.ts';
import { runInForeground } from './foreground.ts';
import { buildEnvironment, prepareStart } from './interactive.ts';

const formatCount = (tokens: number): string => tokens.toLocaleString('en-US');

function formatState(state: Wire<GatewayState>): string {
  const { pid, version, memory_bytes, host, port, mode, active, calls, budget_tokens_day: budget } = state;
  const spent = `${formatCount(state.spent_today)} tokens today`;
  return formatFacts([
    [
      'gateway',
      `pid ${pid}, version ${version}, ${Math.round(memory_bytes / 1024 ** 2)} MB, since ${formatLocalTime(state.started_at)}`,
    ],
    ['address', `http://${host.includes(':') ? `[${host}]` : host}:${port}`],
    ['mode', mode === 'stub' ? 'stub: answers are canned; ai.mode live asks real models' : mode],
    ['calls', `${active} under way, ${calls} so far`],
    ['spent', budget === 0 ? spent : `${spent}, of ${formatCount(budget)}`],
    ...state.providers.map((each): [string, string] => [
      `provider ${each.name}`,
      [
        `${each.tier}, ${each.model || 'any model'}, ${each.protocols.join('+')}`,
        each.has_key ? null : 'without a key',
        each.models === null ? null : `${each.models} models`,
        each.cool_until === null
          ? null
          : `tried last until ${formatLocalTime(new Date(each.cool_until).toISOString())}`,
        each.last_failure === null ? null : `last fault: ${each.last_failure.what}`,
      ]
        .filter((part) => part !== null)
        .join('; '),
    ]),
  ]);
}

const status = defineCommand({
  name: 'gateway status',
  about: 'how the gateway does: its process, mode, budget and providers',
  examples: ['gateway status', 'gateway status --json'],
  async run(context) {
    const client = await context.engine();
    const state = await client.call('gateway.status', {});
    context.result(state, (found) =>
      found === null
        ? 'the gateway does not run; the first run that is routed starts it, or svc gateway serve'
        : formatState(found),
    );
    return state === null ? 1 : 0;
  },
});

const serve = defineCommand({
  name: 'gateway serve',
  about: 'start the gateway unless it runs, and stay until Ctrl-C; it goes on in the background',
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
  about: 'end the gateway once the calls that it is answering are over',
  examples: ['gateway stop'],
  async run(context) {
    const client = await context.engine();
    await client.call('gateway.stop', {});
    context.result({ stopped: true }, () => 'the gateway takes no more calls');
  },
});

const ASK = 'Say ok.';

/** One small call in each protocol. */
const TRIALS: readonly {
  name: string;
  path: string;
  body: object;
  key: (key: string) => Record<string, string>;
}[] = [
  {
    name: 'chat',
    path: '/v1/chat/completions',
    body: { model: 'svc', max_tokens: 16, messages: [{ role: 'user', content: ASK }] },
    key: (key) => ({ authorization: `Bearer ${key}` }),
  },
  {
    name: 'responses',
    path: '/v1/responses',
    body: { model: 'svc', max_output_tokens: 16, input: ASK },
    key: (key) => ({ authorization: `Bearer ${key}` }),
  },
  {
    name: 'messages',
    path: '/v1/messages',
    body: { model: 'svc', max_tokens: 16, messages: [{ role: 'user', content: ASK }] },
    key: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  },
  {
    name: 'gemini',
    path: '/v1beta/models/svc:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: ASK }] }] },
    key: (key) => ({ 'x-goog-api-key': key }),
  },
];

/** Runs `work` with a key that holds only so long, also when this process is killed. */
async function withKey<T>(client: EngineClient, what: string, work: (key: string) => Promise<T>): Promise<T> {
  const { name, key } = await client.call('gateway.add_key', {
    name: `${what}-${randomBytes(4).toString('hex')}`,
    pid: process.pid,
  });
  try {
    return await work(key);
  } finally {
    await client.call('gateway.remove_key', { name });
  }
}

interface Trial {
  protocol: string;
  status: number;
  ms: number;
  /** Who answered; null for the gateway itself. */
  provider: string | null;
  is_stub: boolean;
  problem: string | null;
}

async function tryProtocol(url: string, key: string, trial: (typeof TRIALS)[number]): Promise<Trial> {
  const startedAt = performance.now();
  const answer = await fetch(`${url}${trial.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...trial.key(key) },
    body: JSON.stringify(trial.body),
  });
  const text = await answer.text();
  const { error } = JSON.parse(text) as { error?: { message?: string } };
  return {
    protocol: trial.name,
    status: answer.status,
    ms: Math.round(performance.now() - startedAt),
    provider: answer.headers.get('x-svc-provider'),
    is_stub: answer.headers.has('x-svc-stub'),
    problem: answer.ok ? null : (error?.message ?? `status ${answer.status}`),
  };
}

const test = defineCommand({
  name: 'gateway test',
  about: 'send one tiny call in each protocol; in mode live each costs a few tokens',
  examples: ['gateway test'],
  async run(context) {
    const client = await context.engine();
    const { url } = await client.call('gateway.serve', {});
    const rows = await withKey(client, 'test', async (key) => {
      const tried: Trial[] = [];
      for (const trial of TRIALS) tried.push(await tryProtocol(url, key, trial));
      return tried;
    });
    const text = await formatRows(
      rows,
      [
        { head: 'protocol', value: (row) => row.protocol },
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
  about: 'list the keys that persons have for agents of their own; add NAME and remove NAME change them',
  args: [
    { name: 'action', about: 'add or remove', optional: true, choices: ['add', 'remove'] },
    { name: 'name', about: 'of the key', optional: true },
  ],
  examples: ['gateway keys', 'gateway keys add laptop', 'gateway keys remove laptop'],
  async run(context) {
    const client = await context.engine();
    const [action, name] = context.args;
    if (action === undefined) return listKeys(context, client);
    if (name === undefined) throw new SvcError('usage', `svc gateway keys ${action} needs a name`);
    if (action === 'remove') {
      const removed = await client.call('gateway.remove_key', { name });
      context.result(removed, () => `${name} opens the gateway no longer`);
      return;
    }
    const added = await client.call('gateway.add_key', { name });
    context.result(added, ({ key }) => key);
    context.note('it is shown this once; svc keeps only a hash of it');
  },
});

async function listKeys(context: Context, client: EngineClient): Promise<void> {
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
  if (rows.length === 0) context.note('no keys of persons; svc gateway keys add NAME makes one');
}

const GROUPS = ['session', 'task', 'person', 'provider', 'model', 'protocol', 'day'] as const;

const usage = defineCommand({
  name: 'gateway usage',
  about: 'tokens that calls through the gateway have used',
  flags: {
    days: { type: 'number', value: 'n', about: 'of so many UTC days, today included (1)' },
    by: { type: 'string', about: 'summed by this (provider)', choices: GROUPS },
  },
  examples: ['gateway usage', 'gateway usage --by session --days 7'],
  async run(context) {
    const { days = 1, by = 'provider' } = context.flags;
    const client = await context.engine();
    const found = await client.call('gateway.usage', { days, by });
    type Row = Pick<
      (typeof found.rows)[number],
      'calls' | 'failed' | 'denied' | 'input' | 'output' | 'cache_read' | 'cache_write' | 'estimated'
    > & { key: string | null };
    const rows: Row[] = found.rows.length > 1 ? [...found.rows, { ...found.total, key: 'all' }] : found.rows;
    const column = (head: string, value: (row: Row) => number) => ({
      head,
      right: true,
      value: (row: Row) => formatCount(value(row)),
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
        column('estimated', (row) => row.estimated),
        column('failed', (row) => row.failed),
        column('denied', (row) => row.denied),
      ],
      context.stdout,
    );
    context.result(found, () => text);
    if (rows.length === 0) context.note('no calls went through the gateway');
  },
});

const run = defineCommand({
  name: 'gateway run',
  about:
    'start an agent of your own whose model calls go through the gateway, with a key for as long as it runs',
  args: [
    { name: 'agent', about: 'which agent', completes: 'agent' },
    { name: 'words', about: 'more words for its command line', optional: true, rest: true },
  ],
  examples: ['gateway run claude', 'gateway run codex -- exec "say hello"'],
  async run(context) {
    const { cwd, env } = context;
    const [agent = '', ...words] = context.args;
    const { file } = findWorkspace({ cwd, env });
    const { agents } = (await configuration()).loadConfig({ file, env }).config;
    const template = agents.interactive[agent];
    if (template === undefined)
      throw new SvcError('unknown_agent', `there is no interactive command for ${agent}`, {
        hint: 'add one under agents.interactive',
      });
    const { findPreset } = await agentPrograms();
    const known = findPreset(agent);
    const reason = known === null ? 'svc does not know how to tell it where' : known.cannot.gateway;
    if (reason !== undefined)
      throw new SvcError('usage', `${agent} cannot be sent through the gateway, because ${reason}`);
    const client = await context.engine();
    const { url } = await client.call('gateway.serve', {});
    const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-'));
    try {
      return await withKey(client, agent, async (key) => {
        const routed = { gateway: { url, key }, folder };
        const start = await prepareStart(agent, template, context, { reachesEngine: false, routed });
        return runInForeground({
          argv: [...start.argv, ...words],
          cwd,
          env: buildEnvironment(start, env),
          isTerminal: context.stdin.isTTY === true,
        });
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});

export const gatewayCommands: readonly Command[] = [serve, status, stop, run, test, keys, usage];
