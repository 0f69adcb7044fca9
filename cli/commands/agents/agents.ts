import { SvcError } from '../../../engine/core/base/errors.ts';
import { formatCount, formatLocalTime, toPrintable } from '../../../engine/core/base/text.ts';
import { agentPrograms, configuration, findWorkspace } from '../../../engine/index.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { formatRows } from '../../print.ts';

/** One way to start an agent, and whether it could be started here. */
interface Start {
  command: string;
  program: string;
  /** Null if the program is not installed. */
  path: string | null;
}

interface Row {
  agent: string;
  /** The agent of tasks that name none. */
  is_default: boolean;
  headless: Start | null;
  interactive: Start | null;
  acp: Start | null;
  /** How a message reaches it while it runs; null if unknown. */
  notify: string | null;
  /** Its open circuit, because its runs kept failing; null if closed, or if no engine is running. */
  held: Held | null;
}

interface Held {
  agent: string;
  failures: number;
  code: string;
  text: string;
  reopen_at: string;
}

/** `svc agents`: every preset, and whether its program is installed. Starts nothing. */
const list = defineCommand({
  name: 'agents',
  about: 'list the agent presets, how each is started, and whether its program is installed',
  examples: ['agents', 'agents --json'],
  async run(context) {
    const { cwd, env } = context;
    const { file, agents } = await loadAgents(context);
    const { findProgram, splitCommand } = await agentPrograms();
    const findStart = (commands: Readonly<Record<string, string>>, agent: string): Start | null => {
      const text = commands[agent];
      if (text === undefined) return null;
      const program = splitCommand(text)[0] ?? '';
      return { command: text, program, path: findProgram(program, { cwd, path: env.PATH }) ?? null };
    };
    const { cmds, interactive, acp, notify } = agents;
    const held = await listHeldAgents(context);
    const names = new Set([cmds, interactive, acp, notify].flatMap((each) => Object.keys(each)));
    const rows: Row[] = [...names].map((agent) => ({
      agent,
      is_default: agent === agents.default_preset,
      headless: findStart(cmds, agent),
      interactive: findStart(interactive, agent),
      acp: findStart(acp, agent),
      notify: notify[agent]?.mode ?? null,
      held: held.find((each) => each.agent === agent) ?? null,
    }));
    const text = await formatRows(
      rows,
      [
        { head: 'agent', value: (each) => each.agent },
        { head: 'headless', value: (each) => formatStart(each.headless) },
        { head: 'interactive', value: (each) => formatStart(each.interactive) },
        { head: 'acp', value: (each) => formatStart(each.acp) },
        { head: 'notify', value: (each) => each.notify },
        { head: 'program', value: (each) => findProgramPath(each) ?? 'not installed', flexible: true },
      ],
      context.stdout,
    );
    context.result(rows, () => text);
    for (const { agent, failures, code, text: why, reopen_at } of held)
      context.note(
        `${agent} gets no work until ${formatLocalTime(reopen_at)}: it failed ${formatCount(failures, 'time')} in a row (${code}: ${toPrintable(why)}); svc agents reset ${agent} lets it take work again now`,
      );
    const byDefault =
      agents.default_preset === '' ? '' : `; ${agents.default_preset} runs tasks that name none`;
    context.note(
      file === null ? 'the built-in presets: there is no svc.yaml here' : `from ${file}${byDefault}`,
    );
  },
});

/** Lists the suspended agents of a running engine; does not start one. */
async function listHeldAgents(context: Pick<CommandContext, 'engine'>): Promise<Held[]> {
  try {
    return await (await context.engine({ start: false })).call('agent.held', {});
  } catch (error) {
    if (error instanceof SvcError && (error.code === 'engine_not_running' || error.code === 'no_workspace'))
      return [];
    throw error;
  }
}

const reset = defineCommand({
  name: 'agents reset',
  about: 'let an agent take work again after repeated failures',
  args: [{ name: 'agent', about: 'preset', completes: 'agent:held' }],
  examples: ['agents reset claude'],
  async run(context) {
    const client = await context.engine();
    const done = await client.call('agent.reset', { agent: context.arg(0) });
    context.result(done, () => `${done.agent} takes work again`);
  },
});

export const agentsCommands: readonly Command[] = [list, reset];

interface Configured {
  /** Null for the built-in presets. */
  file: string | null;
  agents: {
    default_preset: string;
    cmds: Readonly<Record<string, string>>;
    interactive: Readonly<Record<string, string>>;
    acp: Readonly<Record<string, string>>;
    notify: Readonly<Record<string, { mode: string }>>;
  };
}

async function loadAgents({ cwd, env }: Pick<CommandContext, 'cwd' | 'env'>): Promise<Configured> {
  let file: string;
  try {
    ({ file } = findWorkspace({ cwd, env }));
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'no_workspace' || env.SVC_CONFIG) throw error;
    const { HEADLESS, INTERACTIVE, ACP, NOTIFY } = await agentPrograms();
    return {
      file: null,
      agents: { default_preset: '', cmds: HEADLESS, interactive: INTERACTIVE, acp: ACP, notify: NOTIFY },
    };
  }
  const { loadConfig } = await configuration();
  return { file, agents: loadConfig({ file, env }).config.agents };
}

const formatStart = (start: Start | null): string | null =>
  start === null ? null : start.path === null ? 'missing' : 'yes';

const findProgramPath = ({ headless, interactive, acp }: Row): string | undefined =>
  [headless, interactive, acp].map((start) => start?.path ?? null).find((each) => each !== null) ?? undefined;
