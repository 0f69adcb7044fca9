import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { pino } from 'pino';
import { linkedServer, SvcError } from '../../engine/index.ts';
import { askForPassword } from '../ask-password.ts';
import { type Command, type Context, defineCommand, type FlagTable } from '../command.ts';
import { formatFacts, formatRows } from '../print.ts';

const DATA_FLAG = {
  data: {
    type: 'string',
    value: 'dir',
    about: "the server's data folder (svc/server below the XDG data folder)",
  },
} as const satisfies FlagTable;

type Verb = Parameters<Awaited<ReturnType<typeof linkedServer>>['askRunningServer']>[1];
type Reached = Pick<Context, 'env' | 'cwd'>;

/** The server's data folder, made if it is missing. Throws `storage_failed`. */
function openServerFolder(flag: string | undefined, { env, cwd }: Reached): string {
  const { XDG_DATA_HOME } = env;
  const base =
    XDG_DATA_HOME && isAbsolute(XDG_DATA_HOME)
      ? XDG_DATA_HOME
      : join(env.HOME ?? homedir(), '.local', 'share');
  const folder = flag === undefined ? join(base, 'svc', 'server') : resolve(cwd, flag);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new SvcError('storage_failed', `cannot make ${folder}: ${(error as NodeJS.ErrnoException).code}`, {
      cause: error,
    });
  }
  return folder;
}

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
      about: 'addresses of proxies whose X-Forwarded-For counts',
    },
  },
  examples: ['server serve', 'server serve --public-url https://svc.example.org --trust-proxy 127.0.0.1/32'],
  async run(context) {
    const { readServerSettings, startServer } = await linkedServer();
    const { addr, publicUrl, data, allowRemote, trustProxy } = context.flags;
    const settings = readServerSettings({ addr, publicUrl, allowRemote, trustProxy });
    const folder = openServerFolder(data, context);
    const log = pino(
      { base: null, timestamp: pino.stdTimeFunctions.isoTime },
      pino.destination({ dest: 2, sync: true }),
    );
    const running = await startServer(
      {
        folder,
        env: context.env,
        log,
        tellSetupCode: (code, file) =>
          log.warn({ setup_code: code, file }, 'open /setup and type in this code'),
        tellNewSecret: (file) => log.warn({ file }, 'a root secret was made; back this file up'),
      },
      settings,
    );
    const { url, database } = running;
    context.result({ url, data: folder, database }, () => `server on ${url}`);
    await new Promise<void>((end) => {
      if (context.signal.aborted) end();
      context.signal.addEventListener('abort', () => end(), { once: true });
    });
    await running.close();
    return 0;
  },
});

/** Lets the server that runs on the folder do it, or does it without one. */
async function administerServer(
  context: Reached & { flags: { data?: string | undefined } },
  verb: Verb,
  input: object,
): Promise<unknown> {
  const { administerClosed, askRunningServer, DEFAULT_ADDRESS } = await linkedServer();
  const folder = openServerFolder(context.flags.data, context);
  const asked = await askRunningServer(folder, verb, input);
  if (asked !== undefined) return asked.result;
  const log = pino({ enabled: false });
  return administerClosed({ folder, env: context.env, log }, `http://${DEFAULT_ADDRESS}`, verb, input);
}

interface PersonAnswer {
  name: string;
  account?: string;
  role?: string;
  operator?: boolean;
  invitation: string | null;
}

const PERSON_FLAGS = {
  account: { type: 'string', value: 'name', about: 'theirs (the only one)' },
  role: { type: 'string', about: 'in the account (member)', choices: ['admin', 'member'] },
  operator: { type: 'boolean', about: 'they run this server' },
  password: { type: 'boolean', about: 'ask for their password now, or read it from stdin' },
  ...DATA_FLAG,
} as const satisfies FlagTable;

const person = defineCommand({
  name: 'server person',
  about: 'the people of a linked server: list them, add one, invite one to set a password anew, remove one',
  args: [
    {
      name: 'action',
      about: 'list unless it is given',
      optional: true,
      choices: ['list', 'add', 'invite', 'remove'],
    },
    { name: 'name', about: 'of the person', optional: true },
  ],
  flags: PERSON_FLAGS,
  examples: [
    'server person add ann --operator --password',
    'server person add bob --account home',
    'server person invite bob',
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
    const made = await (action === 'add'
      ? addPerson(context, named)
      : (administerServer(context, 'person.invite', { name: named }) as Promise<PersonAnswer>));
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
      context.note('the address opens once, for 72 hours, and is not shown again');
    return 0;
  },
});

function requireName(action: string, name: string | undefined): string {
  if (name !== undefined) return name;
  throw new SvcError('usage', `${action} needs a name`, { hint: `for example ${action} ann` });
}

type PersonContext = Context<typeof PERSON_FLAGS>;

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
  about: 'the accounts of a linked server, to which people and machines belong: list them, add or remove one',
  args: [
    { name: 'action', about: 'list unless it is given', optional: true, choices: ['list', 'add', 'remove'] },
    { name: 'name', about: 'of the account', optional: true },
  ],
  flags: DATA_FLAG,
  examples: ['server account list', 'server account add home', 'server account remove old'],
  async run(context) {
    const [action = 'list', name] = context.args;
    if (action === 'list') {
      const rows = (await administerServer(context, 'account.list', {})) as { name: string; plan: string }[];
      const text = await formatRows(
        rows,
        [
          { head: 'account', value: (row) => row.name },
          { head: 'plan', value: (row) => row.plan },
        ],
        context.stdout,
      );
      context.result(rows, () => text);
      return 0;
    }
    const named = requireName(action, name);
    const verb = action === 'add' ? 'account.add' : 'account.remove';
    const done = await administerServer(context, verb, { name: named });
    context.result(done, () => `account ${named} was ${action === 'add' ? 'added' : 'removed'}`);
    return 0;
  },
});

const token = defineCommand({
  name: 'server token',
  about: 'make the token that opens /metrics; one made before opens it no longer',
  args: [{ name: 'of', about: 'what it opens', choices: ['metrics'] }],
  flags: DATA_FLAG,
  examples: ['server token metrics'],
  async run(context) {
    const made = (await administerServer(context, 'token.metrics', {})) as { token: string };
    context.result(made, ({ token: text }) => text);
    context.note('it is shown this once; send it as Authorization: Bearer');
    return 0;
  },
});

export const serverCommands: readonly Command[] = [serve, person, account, token];
