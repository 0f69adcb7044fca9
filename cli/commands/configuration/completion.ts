import {
  type Api,
  agentPrograms,
  configuration,
  type EngineClient,
  findWorkspace,
} from '../../../engine/index.ts';
import { type Command, type CommandContext, type CompletionProposal, defineCommand } from '../../command.ts';
import { SHELLS } from '../../completion/describe.ts';

type Shell = (typeof SHELLS)[number];

/** `svc completion`: a script for a shell, generated from the table of commands. */
export const completionCommand: Command = defineCommand({
  name: 'completion',
  about: 'print the completion script of a shell',
  args: [{ name: 'shell', about: 'the shell', choices: SHELLS }],
  examples: ['completion bash > ~/.local/share/bash-completion/completions/svc', 'completion fish | source'],
  async run(context) {
    const shell = context.args[0] as Shell;
    const script = await SCRIPTS[shell](await context.loadCommands());
    context.result({ shell, script }, () => script.trimEnd());
  },
});

const SCRIPTS: Readonly<Record<Shell, (commands: readonly Command[]) => Promise<string>>> = {
  bash: async (commands) => (await import('../../completion/bash.ts')).writeBashScript(commands),
  zsh: async (commands) => (await import('../../completion/zsh.ts')).writeZshScript(commands),
  fish: async (commands) => (await import('../../completion/fish.ts')).writeFishScript(commands),
};

/** How long a shell waits for a hanging engine. */
const PATIENCE_MS = 1500;
/** Only the newest ones are proposed until something is typed. */
const PROPOSED = 100;
const SEARCHED = 10_000;

/** `svc __complete <kind> [prefix]`: prints one proposal per line. Silent on errors; starts no engine. */
export const completeCommand: Command = defineCommand({
  name: '__complete',
  about: 'suggestions for the completion scripts',
  hidden: true,
  args: [
    {
      name: 'words',
      about: 'the kind, the text typed so far, and the word before it',
      optional: true,
      rest: true,
    },
  ],
  examples: ['__complete task t-1'],
  async run(context) {
    const [kind, typed = '', before = ''] = context.args;
    const found = await (kind === 'setting'
      ? listSettings(context, before)
      : listProposals(context, kind as Exclude<CompletionProposal, 'setting'>, typed)
    ).catch(() => []);
    // Shells expand proposals, so only plain words may reach them.
    const plain = found.filter((word) => /^[\w.-]+$/.test(word) && word.startsWith(typed));
    context.result(plain, (words) => words.join('\n'));
  },
});

/** Lists the ids of a kind, up to a limit. */
type Source = (client: EngineClient, limit: number) => Promise<(string | number)[]>;

type Task = Api['task.list']['output']['tasks'][number];
type Session = Api['session.list']['output'][number];

const listTasks =
  (input: Api['task.list']['input'], isProposed: (task: Task) => boolean = () => true): Source =>
  async (client, limit) => {
    const { tasks } = await client.call('task.list', { ...input, limit });
    return tasks.filter(isProposed).map((task) => task.task_id);
  };

const listDecisions =
  (input: Api['decision.list']['input']): Source =>
  async (client, limit) => {
    const decisions = await client.call('decision.list', { ...input, limit });
    return decisions.map((decision) => decision.decision_id);
  };

const listSessions =
  (input: Api['session.list']['input'], isProposed: (session: Session) => boolean = () => true): Source =>
  async (client, limit) => {
    const sessions = await client.call('session.list', { ...input, limit });
    return sessions.filter(isProposed).map((session) => session.session_id);
  };

const listAsks =
  (status: 'open' | 'all'): Source =>
  async (client, limit) => {
    const { asks } = await client.call('ask.list', { status, limit });
    return asks.map((ask) => ask.id);
  };

const listMessages =
  (input: Api['msg.list']['input']): Source =>
  async (client, limit) => {
    const messages = await client.call('msg.list', { ...input, limit });
    return messages.map((message) => message.id);
  };

/** The sources of ids by kind. */
const SOURCES: Readonly<Record<Exclude<CompletionProposal, 'agent' | 'key' | 'setting' | 'tool'>, Source>> = {
  task: listTasks({}),
  'task:idle': listTasks(
    {},
    ({ status, session_id }) => (status === 'open' || status === 'assigned') && session_id === null,
  ),
  'task:failed': listTasks({ status: 'failed' }),
  'task:unended': listTasks({}, ({ status }) => status !== 'done' && status !== 'failed'),
  decision: listDecisions({}),
  'decision:pending': listDecisions({ state: 'pending' }),
  session: listSessions({}),
  'session:live': listSessions({ live: true }),
  'session:stopped': listSessions({}, ({ state, resume_at }) => state === 'ended' || resume_at !== null),
  'session:ended': listSessions({}, ({ state }) => state === 'ended'),
  question: listAsks('all'),
  'question:open': listAsks('open'),
  message: listMessages({}),
  'message:unread': listMessages({ unread: true }),
  delivery: async (client, limit) => (await client.call('notify.deliveries', { limit })).map(({ id }) => id),
  project: async (client) => (await client.call('project.list')).map(({ id }) => id),
  'agent:held': async (client) => (await client.call('agent.held')).map(({ agent }) => agent),
};

async function listProposals(
  context: CommandContext,
  kind: Exclude<CompletionProposal, 'setting'>,
  typed: string,
): Promise<string[]> {
  if (kind === 'tool') return listTools(context);
  if (kind === 'agent') return listAgentNames(context);
  if (kind === 'key') return (await configuration()).describeKeys().map(({ key }) => key);
  const client = await context.engine({ start: false, patienceMs: PATIENCE_MS });
  const ids = await SOURCES[kind](client, /\d$/.test(typed) ? SEARCHED : PROPOSED);
  return ids.map(String);
}

/** Lists the values that a key of svc.yaml may have. */
async function listSettings(context: CommandContext, key: string): Promise<string[]> {
  if (key === 'agents.default_preset') return listAgentNames(context);
  const found = (await configuration()).describeKeys().find((each) => each.key === key);
  return found?.allowed ?? [];
}

async function listTools(context: CommandContext): Promise<string[]> {
  const client = await context.engine({ start: false, patienceMs: PATIENCE_MS });
  return (await client.call('tool.list')).tools.map(({ name }) => name);
}

/** Returns the presets of the workspace; the built-in ones outside a workspace, or if svc.yaml is invalid. */
async function listAgentNames({ cwd, env }: CommandContext): Promise<string[]> {
  try {
    const { file } = findWorkspace({ cwd, env });
    const { config } = (await configuration()).loadConfig({ file, env });
    return Object.keys(config.agents.cmds);
  } catch {
    return Object.keys((await agentPrograms()).HEADLESS);
  }
}
