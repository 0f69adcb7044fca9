import { configuration, findWorkspace, presets } from '../../engine/index.ts';
import { type Command, type Context, command } from '../command.ts';
import { type Kind, SHELLS } from '../completion/describe.ts';

type Shell = (typeof SHELLS)[number];

/** `svc completion`: a script for a shell, made from the table of commands. */
export const completionCommand: Command = command({
  name: 'completion',
  about: 'print the completion script of a shell',
  args: [{ name: 'shell', about: 'the shell', choices: SHELLS }],
  examples: ['completion bash > ~/.local/share/bash-completion/completions/svc', 'completion fish | source'],
  async run(context) {
    const shell = context.args[0] as Shell;
    // The catalogue names this command, so it can be loaded only when it runs.
    const { allCommands } = await import('../catalogue.ts');
    const script = await SCRIPTS[shell](await allCommands());
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
    const found = await proposals(context, kind as Kind, typed).catch(() => []);
    // Shells expand what they are given: nothing but plain words may reach them.
    const plain = found.filter((word) => /^[\w.-]+$/.test(word) && word.startsWith(typed));
    context.result(plain, (words) => words.join('\n'));
  },
});

async function proposals(context: Context, kind: Kind, typed: string): Promise<string[]> {
  const ids = async (operation: string, name: string): Promise<string[]> => {
    const client = await context.engine({ start: false, patienceMs: PATIENCE_MS });
    const limit = /\d$/.test(typed) ? SEARCHED : PROPOSED;
    const rows = await client.call<Record<string, unknown>[]>(operation, { limit });
    return rows.map((row) => String(row[name]));
  };
  switch (kind) {
    case 'task':
      return ids('task.list', 'task_id');
    case 'decision':
      return ids('decision.list', 'decision_id');
    case 'session':
      return ids('session.list', 'session_id');
    case 'question':
      return ids('ask.list', 'ask_id');
    case 'message':
      return ids('message.list', 'message_id');
    case 'tool':
      return tools(context);
    case 'agent':
      return agents(context);
    case 'key':
      return (await configuration()).describeKeys().map(({ key }) => key);
    default:
      return [];
  }
}

async function tools(context: Context): Promise<string[]> {
  const client = await context.engine({ start: false, patienceMs: PATIENCE_MS });
  return (await client.call<{ tools: { name: string }[] }>('tool.list')).tools.map(({ name }) => name);
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
