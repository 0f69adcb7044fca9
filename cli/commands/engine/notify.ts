import { SvcError } from '../../../engine/core/base/errors.ts';
import { formatAge, formatLocalTime, quoteForShell } from '../../../engine/core/base/text.ts';
import { configuration, findWorkspace, ownSeat, pairing } from '../../../engine/index.ts';
import { parseNumberId } from '../../arguments/number-id.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
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

/** How long to wait for the person. */
const PAIR_MS = 10 * 60_000;

const pair = defineCommand({
  name: 'notify pair',
  about: 'find the id of a Telegram chat: wait until you send a code to your bot from there',
  flags: {
    tokenEnv: {
      type: 'string',
      value: 'variable',
      about: 'variable with the token of the bot (default: SVC_TELEGRAM_TOKEN)',
    },
    url: { type: 'string', value: 'url', about: 'address of a Bot API of your own' },
  },
  examples: ['notify pair', 'notify pair --token-env MY_BOT'],
  async run(context) {
    const { env, flags, stderr } = context;
    (await ownSeat()).refuseInsideRun('svc notify pair', env);
    const { tokenEnv = 'SVC_TELEGRAM_TOKEN', url } = flags;
    const { createSecretLookup, readHome, resolveMachineHome } = await configuration();
    const home = resolveMachineHome(env);
    const token = createSecretLookup(env, readHome(home))(tokenEnv);
    if (token === undefined)
      throw new SvcError('secret_missing', `${tokenEnv} is not set`, {
        hint: `create a bot with @BotFather and write ${tokenEnv}=TOKEN into ${home}/keys.env`,
      });
    const { pairTelegram, readProxies } = await pairing();
    const paired = await pairTelegram({
      token,
      url: url ?? 'https://api.telegram.org',
      proxies: readProxies(env),
      signal: AbortSignal.any([context.signal, AbortSignal.timeout(PAIR_MS)]),
      onReady: (bot, code) =>
        void stderr.write(
          `open https://t.me/${bot}?start=${code} and press Start, or send this in a group of the bot:\n/start@${bot} ${code}\nCtrl-C stops waiting\n`,
        ),
    });
    const entry = {
      kind: 'telegram',
      ...(url === undefined ? {} : { url }),
      token_env: tokenEnv,
      chat: paired.chat,
    };
    const list = JSON.stringify([...(await listPushEntries(context)), entry]);
    context.result({ ...paired, entry }, () =>
      [`${paired.name} is chat ${paired.chat}`, `svc config set notify.push ${quoteForShell(list)}`].join(
        '\n',
      ),
    );
    return 0;
  },
});

/** Lists the entries of `notify.push` of this workspace; none outside of one. */
async function listPushEntries({ cwd, env }: Pick<CommandContext, 'cwd' | 'env'>) {
  const { loadConfig } = await configuration();
  try {
    return loadConfig({ file: findWorkspace({ cwd, env }).file, env }).config.notify.push;
  } catch {
    return [];
  }
}

export const notifyCommands: readonly Command[] = [events, deliveries, redeliver, test, pair];
