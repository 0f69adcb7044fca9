import { SvcError } from '../../../engine/core/base/errors.ts';
import { linkedServer } from '../../../engine/index.ts';
import { askForPassword } from '../../ask-password.ts';
import { type Command, type CommandContext, defineCommand, type FlagTable } from '../../command.ts';
import { formatFacts, formatRows } from '../../print.ts';
import { serverChat } from './server-chat.ts';
import { administerServer, DATA_FLAG, openServerFolder } from './server-folder.ts';
import { serverInstall } from './server-install.ts';
import { serverKeepingCommands } from './server-keeping.ts';
import { serverWorkspaceCommand } from './server-workspace.ts';

const serve = defineCommand({
  name: 'server serve',
  about: 'run a linked server in the foreground: its log is JSON on stderr, SIGTERM ends it',
  flags: {
    addr: { type: 'string', value: 'host:port', about: 'where it listens (127.0.0.1:8791)' },
    publicUrl: {
      type: 'string',
      value: 'url',
      about: 'how people and machines reach it (the address it listens on)',
    },
    ...DATA_FLAG,
    allowRemote: { type: 'boolean', about: 'allow an address that other machines can reach' },
    trustProxy: {
      type: 'string',
      value: 'cidr',
      multiple: true,
      about: 'addresses of proxies whose X-Forwarded-For is trusted',
    },
    allowTarget: {
      type: 'string',
      value: 'cidr',
      multiple: true,
      about: 'addresses in your own network that events may be sent to, such as your n8n',
    },
    telegramApi: {
      type: 'string',
      value: 'url',
      about: "your own Bot API server (Telegram's)",
    },
    slackApi: { type: 'string', value: 'url', about: "base URL of Slack's methods (Slack's)" },
  },
  examples: [
    'server serve',
    'server serve --public-url https://svc.example.org --trust-proxy 127.0.0.1/32',
    'server serve --allow-target 192.168.1.20/32',
  ],
  async run(context) {
    const { openOutputLog, readServerSettings, startServer } = await linkedServer();
    const { data, ...flags } = context.flags;
    const settings = readServerSettings(flags);
    const folder = openServerFolder(data, context);
    const log = openOutputLog(2);
    const running = await startServer(
      {
        folder,
        env: context.env,
        log,
        tellSetupCode({ code, file, page }) {
          log.warn({ setup_code: code, file }, 'open /setup and type in this code');
          // After the lines of the log, which are written at the end of the turn; a program gets JSON only.
          if (context.stderr.isTTY)
            setImmediate(() => context.note(`open ${page} in a browser and type in the code ${code}`));
        },
        tellNewSecret: (file) => log.warn({ file }, 'a root secret was created; back up this file'),
      },
      settings,
    );
    const { url, database } = running;
    context.result({ url, data: folder, database }, () => `server on ${url}`);
    const ended = new Promise<null>((end) => {
      if (context.signal.aborted) end(null);
      context.signal.addEventListener('abort', () => end(null), { once: true });
    });
    const lost = await Promise.race([ended, running.lost]);
    await running.close();
    if (lost !== null) throw lost;
    return 0;
  },
});

interface PersonAnswer {
  name: string;
  account?: string;
  role?: string;
  operator?: boolean;
  invitation: string | null;
}

const PERSON_FLAGS = {
  account: { type: 'string', value: 'name', about: 'their account (the only one)' },
  role: { type: 'string', about: 'role in the account (member)', choices: ['admin', 'member'] },
  operator: { type: 'boolean', about: 'make them an operator of this server' },
  password: { type: 'boolean', about: 'ask for their password now, or read it from stdin' },
  ...DATA_FLAG,
} as const satisfies FlagTable;

const person = defineCommand({
  name: 'server person',
  about:
    'manage the people of a linked server: list, add or remove them, or create an address to set a password (invite) or a new one (reset)',
  args: [
    {
      name: 'action',
      about: 'action (list)',
      optional: true,
      choices: ['list', 'add', 'invite', 'reset', 'remove'],
    },
    { name: 'name', about: 'name of the person', optional: true },
  ],
  flags: PERSON_FLAGS,
  examples: [
    'server person add ann --operator --password',
    'server person add bob --account home',
    'server person invite bob',
    'server person reset bob',
    'server person list',
  ],
  async run(context) {
    const [action = 'list', name] = context.args;
    if (action === 'list') return listPeople(context);
    const named = requireName(action, name);
    if (action === 'remove') {
      const removed = await administerServer(context, 'person.remove', { name: named });
      context.result(removed, () => `${named} was removed`);
      return 0;
    }
    const made = await (action === 'add' ? addPerson(context, named) : offerPassword(context, action, named));
    context.result(made, ({ role, account, operator, invitation }) =>
      formatFacts([
        [
          'person',
          role === undefined ? named : `${named}, ${role} of ${account}${operator ? ', operator' : ''}`,
        ],
        ...(invitation === null ? [] : [['address', invitation] as [string, string]]),
      ]),
    );
    if (made.invitation !== null)
      context.note('the address works once, within 72 hours, and is not shown again');
    return 0;
  },
});

function requireName(action: string, name: string | undefined): string {
  if (name !== undefined) return name;
  throw new SvcError('usage', `${action} needs a name`, { hint: `for example ${action} ann` });
}

type PersonContext = CommandContext<typeof PERSON_FLAGS>;

async function addPerson(context: PersonContext, name: string): Promise<PersonAnswer> {
  const { account, role = 'member', operator = false, password: asks } = context.flags;
  const password = asks ? await askForPassword(context, 'password:') : null;
  return (await administerServer(context, 'person.add', {
    name,
    role,
    operator,
    password,
    ...(account === undefined ? {} : { account }),
  })) as PersonAnswer;
}

const offerPassword = (context: PersonContext, action: string, name: string): Promise<PersonAnswer> =>
  administerServer(context, action === 'invite' ? 'person.invite' : 'person.reset', {
    name,
  }) as Promise<PersonAnswer>;

interface ListedPerson {
  name: string;
  account: string;
  role: string;
  is_operator: boolean;
  has_password: boolean;
}

async function listPeople(context: PersonContext): Promise<number> {
  const { account } = context.flags;
  const input = account === undefined ? {} : { account };
  const rows = (await administerServer(context, 'person.list', input)) as ListedPerson[];
  const text = await formatRows(
    rows,
    [
      { head: 'name', value: (row) => row.name },
      { head: 'account', value: (row) => row.account },
      { head: 'role', value: (row) => (row.is_operator ? `${row.role}, operator` : row.role) },
      { head: 'state', value: (row) => (row.has_password ? 'can sign in' : 'invited') },
    ],
    context.stdout,
  );
  context.result(rows, () => text);
  return 0;
}

const account = defineCommand({
  name: 'server account',
  about:
    'manage the accounts of a linked server, which people and machines belong to: list, add or remove them, assign a plan or an add-on',
  args: [
    {
      name: 'action',
      about: 'action (list)',
      optional: true,
      choices: ['list', 'add', 'plan', 'addon', 'remove'],
    },
    { name: 'name', about: 'name of the account', optional: true },
    {
      name: 'what',
      about: 'a plan: free, professional, team; or an add-on: n8n, zapier, make',
      optional: true,
    },
    { name: 'state', about: 'state of the add-on', optional: true, choices: ['on', 'off'] },
  ],
  flags: DATA_FLAG,
  examples: [
    'server account list',
    'server account add home',
    'server account plan home team',
    'server account addon home n8n on',
    'server account remove old',
  ],
  async run(context) {
    const [action = 'list', name, what, state] = context.args;
    if (action === 'list') {
      const rows = (await administerServer(context, 'account.list', {})) as {
        name: string;
        plan: string;
        addons: string[];
      }[];
      const text = await formatRows(
        rows,
        [
          { head: 'account', value: (row) => row.name },
          { head: 'plan', value: (row) => row.plan },
          { head: 'add-ons', value: (row) => row.addons.join(', ') },
        ],
        context.stdout,
      );
      context.result(rows, () => text);
      return 0;
    }
    const named = requireName(action, name);
    if (action === 'plan') {
      if (what === undefined)
        throw new SvcError('usage', 'which plan?', { hint: `svc server account plan ${named} team` });
      const done = await administerServer(context, 'account.plan', { name: named, plan: what });
      context.result(done, () => `account ${named} has the plan ${what}`);
      return 0;
    }
    if (action === 'addon') {
      if (what === undefined || state === undefined)
        throw new SvcError('usage', 'which add-on, on or off?', {
          hint: `svc server account addon ${named} n8n on`,
        });
      const input = { name: named, addon: what, on: state === 'on' };
      const done = await administerServer(context, 'account.addon', input);
      context.result(done, () => `account ${named}: the add-on ${what} is ${state}`);
      return 0;
    }
    const verb = action === 'add' ? 'account.add' : 'account.remove';
    const done = await administerServer(context, verb, { name: named });
    context.result(done, () => `account ${named} was ${action === 'add' ? 'added' : 'removed'}`);
    return 0;
  },
});

interface ListedPlan {
  name: string;
  quotas: Record<string, number | null>;
  capabilities: string[];
}

const plan = defineCommand({
  name: 'server plan',
  about: 'manage the plans of a linked server: list them, or set a quota or capability of one',
  args: [
    { name: 'action', about: 'action (list)', optional: true, choices: ['list', 'set'] },
    { name: 'plan', about: 'free, professional or team', optional: true },
    { name: 'value', about: 'such as projects=30, people=none, assistant=on', optional: true },
  ],
  flags: DATA_FLAG,
  examples: [
    'server plan list',
    'server plan set professional projects=30',
    'server plan set team assistant=off',
  ],
  async run(context) {
    const [action = 'list', name, setting] = context.args;
    if (action === 'set') {
      const [, key = '', value = ''] = /^([^=]+)=(.+)$/.exec(setting ?? '') ?? [];
      if (name === undefined || key === '')
        throw new SvcError('usage', 'set which value of which plan?', {
          hint: 'svc server plan set professional projects=30',
        });
      const changed = await administerServer(context, 'plan.set', { plan: name, key, value });
      context.result(changed, () => `plan ${name}: ${key} is ${value}`);
      return 0;
    }
    const rows = (await administerServer(context, 'plan.list', {})) as ListedPlan[];
    const formatQuota = (of: string) => (row: ListedPlan) => String(row.quotas[of] ?? 'none');
    const text = await formatRows(
      rows,
      [
        { head: 'plan', value: (row) => row.name },
        { head: 'projects', value: formatQuota('projects') },
        { head: 'workspaces', value: formatQuota('workspaces') },
        { head: 'people', value: formatQuota('people') },
        { head: 'has', value: (row) => row.capabilities.join(', ') },
      ],
      context.stdout,
    );
    context.result(rows, () => text);
    return 0;
  },
});

const token = defineCommand({
  name: 'server token',
  about: 'create the token for /metrics; an earlier one becomes invalid',
  args: [{ name: 'page', about: 'what it gives access to', choices: ['metrics'] }],
  flags: DATA_FLAG,
  examples: ['server token metrics'],
  async run(context) {
    const made = (await administerServer(context, 'token.metrics', {})) as { token: string };
    context.result(made, ({ token: text }) => text);
    context.note('it is shown only once; send it as Authorization: Bearer');
    return 0;
  },
});

export const serverCommands: readonly Command[] = [
  serve,
  serverInstall,
  person,
  account,
  serverWorkspaceCommand,
  plan,
  token,
  serverChat,
  ...serverKeepingCommands,
];
