import { configuration, findWorkspace, presets } from '../../engine/index.ts';
import { type Command, type Context, command, type Proposal } from '../command.ts';
import { SHELLS } from '../completion/describe.ts';

type Shell = (typeof SHELLS)[number];

/** `svc completion`: a script for a shell, made from the table of commands. */
export const completionCommand: Command = command({
  name: 'completion',
  about: 'print the completion script of a shell',
  args: [{ name: 'shell', about: 'the shell', choices: SHELLS }],
  examples: ['completion bash > ~/.local/share/bash-completion/completions/svc', 'completion fish | source'],
  async run(context) {
    const shell = context.args[0] as Shell;
    const script = await SCRIPTS[shell](await context.commands());
    context.result({ shell, script }, () => script.trimEnd());
  },
});

const SCRIPTS: Readonly<Record<Shell, (commands: readonly Command[]) => Promise<string>>> = {
  bash: async (commands) => (await import('../completion/bash.ts')).bashScript(commands),
  zsh: async (commands) => (await import('../completion/zsh.ts')).zshScript(commands),
  fish: async (commands) => (await import('../completion/fish.ts')).fishScript(commands),
};

/** How long a shell may have to wait for an engine that hangs. */
const PATIENCE_MS = 1500;
/** Without a beginning typed only the newest are proposed. */
const PROPOSED = 100;
const SEARCHED = 10_000;

/** `svc __complete <kind> [beginning]`: one proposal per line. Says nothing on a fault and starts no engine. */
export const completeCommand: Command = command({
  name: '__complete',
  about: 'proposals for the completion scripts',
  hidden: true,
  args: [{ name: 'words', about: 'kind, and what is typed so far', optional: true, rest: true }],
  async run(context) {
    const [kind, typed = ''] = context.args;
    const found = await proposals(context, kind as Proposal, typed).catch(() => []);
    // Shells expand what they are given: nothing but plain words may reach them.
    const plain = found.filter((word) => /^[\w.-]+$/.test(word) && word.startsWith(typed));
    context.result(plain, (words) => words.join('\n'));
  },
});

type Row = Record<string, unknown>;

/** Where the ids of a kind come from: the engine's list, narrowed by what it can be asked for and by what a row says. */
interface Source {
  operation: string;
  id: string;
  input?: object;
  fits?(row: Row): boolean;
  /** The operation takes no limit. */
  isWhole?: boolean;
}

const TASKS = { operation: 'task.list', id: 'task_id' };
const DECISIONS = { operation: 'decision.list', id: 'decision_id' };
const SESSIONS = { operation: 'session.list', id: 'session_id' };
const QUESTIONS = { operation: 'ask.list', id: 'ask_id' };
const MESSAGES = { operation: 'message.list', id: 'message_id' };

const SOURCES: Readonly<Record<Exclude<Proposal, 'agent' | 'key' | 'tool'>, Source>> = {
  task: TASKS,
  'task:idle': {
    ...TASKS,
    fits: ({ status, session_id }) => (status === 'open' || status === 'assigned') && session_id === null,
  },
  'task:failed': { ...TASKS, input: { status: 'failed' } },
  'task:unended': { ...TASKS, fits: ({ status }) => status !== 'done' && status !== 'failed' },
  decision: DECISIONS,
  'decision:pending': { ...DECISIONS, input: { state: 'pending' } },
  session: SESSIONS,
  'session:live': { ...SESSIONS, input: { live: true } },
  'session:stopped': {
    ...SESSIONS,
    fits: ({ state, resume_at }) => state === 'ended' || resume_at !== null,
  },
  question: QUESTIONS,
  'question:open': { ...QUESTIONS, input: { status: 'open' } },
  message: MESSAGES,
  'message:unread': { ...MESSAGES, input: { unread: true } },
  delivery: { operation: 'notify.deliveries', id: 'id' },
  project: { operation: 'project.list', id: 'id', isWhole: true },
  'agent:held': { operation: 'agent.held', id: 'agent', isWhole: true },
};

async function proposals(context: Context, kind: Proposal, typed: string): Promise<string[]> {
  if (kind === 'tool') return tools(context);
  if (kind === 'agent') return agents(context);
  if (kind === 'key') return (await configuration()).describeKeys().map(({ key }) => key);
  const { operation, id, input = {}, fits = () => true, isWhole } = SOURCES[kind];
  const client = await context.engine({ start: false, patienceMs: PATIENCE_MS });
  const limit = /\d$/.test(typed) ? SEARCHED : PROPOSED;
  const rows = (await client.callByName(operation, isWhole ? input : { ...input, limit })) as Row[];
  return rows.filter(fits).map((row) => String(row[id]));
}

async function tools(context: Context): Promise<string[]> {
  const client = await context.engine({ start: false, patienceMs: PATIENCE_MS });
  return (await client.call('tool.list')).tools.map(({ name }) => name);
}

/** The presets of the workspace; outside one, or when svc.yaml is broken, the built-in ones. */
async function agents({ cwd, env }: Context): Promise<string[]> {
  try {
    const { file } = findWorkspace({ cwd, env });
    const { config } = (await configuration()).loadConfig({ file, env });
    return Object.keys(config.agents.cmds);
  } catch {
    return Object.keys((await presets()).HEADLESS);
  }
}
