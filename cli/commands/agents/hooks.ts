import { rmSync } from 'node:fs';
import { configuration } from '../../../engine/index.ts';
import type { ClientScope } from '../../clients/clients.ts';
import { findHookFile, findHookPlace, HOOK_FILES, type HookFile } from '../../clients/hook-files.ts';
import { type HookPlan, hasHooks, planHooks } from '../../clients/hook-install.ts';
import { findProjectFolder } from '../../clients/install.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { outputFlags } from '../../pages.ts';
import { formatRows } from '../../print.ts';
import { findPortableCommand } from '../../self.ts';

/** The result of `svc hooks install` or `remove`. */
interface Report {
  agent: string;
  scope: ClientScope;
  file: string;
  change: HookPlan['change'];
  written: boolean;
  /** The entries in the format of the file. */
  text: string;
}

const AGENTS = HOOK_FILES.map(({ agent }) => agent);

/** The file may contain keys, so only its owner may read it. */
const USER_FILE_MODE = 0o600;

const args = [{ name: 'agent', about: 'the agent', choices: AGENTS }];
const flags = {
  user: { type: 'boolean', about: 'use the file for all folders, not the one for this project' },
  print: { type: 'boolean', about: 'only print what would be written, and where' },
} as const;

const chooseScope = ({ project }: HookFile, isUser: boolean): ClientScope =>
  isUser || project === null ? 'user' : 'project';

async function applyPlan(
  context: CommandContext<typeof flags>,
  agent: HookFile,
  plan: HookPlan,
  nothing: string,
): Promise<void> {
  const scope = chooseScope(agent, context.flags.user);
  const isWritten = plan.change !== 'none' && !context.flags.print;
  if (isWritten && plan.text === null) rmSync(plan.file);
  else if (isWritten) {
    const { replaceFile } = await configuration();
    replaceFile(plan.file, plan.text ?? '', scope === 'user' ? { mode: USER_FILE_MODE } : {});
  }
  const { file, change, shown } = plan;
  const report: Report = { agent: agent.agent, scope, file, change, written: isWritten, text: shown };
  context.result(report, context.flags.print ? formatPlanned : (each) => formatDone(each, nothing));
  if (agent.project === null && !context.flags.user)
    context.note(`note: ${agent.agent} supports hooks for all folders only, not for one project`);
}

const install = defineCommand({
  name: 'hooks install',
  about: "make an agent that you start yourself run svc's hooks, through its own configuration",
  args,
  flags,
  examples: ['hooks install claude', 'hooks install gemini --user', 'hooks install codex --print'],
  async run(context) {
    const { cwd, env, note } = context;
    const agent = findHookFile(context.args[0]!)!;
    const scope = chooseScope(agent, context.flags.user);
    const { words, isPortable } = await findPortableCommand(context);
    const plan = await planHooks(agent, { scope, root: findProjectFolder(cwd, env), env }, words);
    await applyPlan(context, agent, plan, 'already runs them');
    if (agent.next !== undefined && plan.change !== 'none') note(`note: ${agent.next}`);
    if (!isPortable && scope === 'project') {
      note('note: this svc is not on PATH, so the file contains paths of this machine: do not share it');
    }
  },
});

const remove = defineCommand({
  name: 'hooks remove',
  about: "remove svc's hooks from an agent's own configuration; everything else stays",
  args,
  flags,
  examples: ['hooks remove claude', 'hooks remove gemini --user'],
  async run(context) {
    const { cwd, env } = context;
    const agent = findHookFile(context.args[0]!)!;
    const scope = chooseScope(agent, context.flags.user);
    const plan = await planHooks(agent, { scope, root: findProjectFolder(cwd, env), env }, null);
    await applyPlan(context, agent, plan, 'has no hooks of svc');
  },
});

const list = defineCommand({
  name: 'hooks list',
  about: "list the agents that can run svc's hooks, and whether they do",
  flags: outputFlags,
  examples: ['hooks list'],
  async run(context) {
    const root = findProjectFolder(context.cwd, context.env);
    const rows = HOOK_FILES.flatMap((agent) =>
      (['project', 'user'] as const).flatMap((scope) => {
        const place = { scope, root, env: context.env };
        const file = findHookPlace(agent, scope, place);
        if (file === undefined) return [];
        return [{ agent: agent.agent, scope, installed: hasHooks(agent, place), file }];
      }),
    );
    const text = await formatRows(
      rows,
      [
        { head: 'agent', value: ({ agent }) => agent },
        { head: 'scope', value: ({ scope }) => scope },
        { head: 'hooks', value: ({ installed }) => (installed ? 'yes' : '-') },
        { head: 'file', value: ({ file }) => file, flexible: true },
      ],
      context.stdout,
      context.paint,
    );
    context.result(rows, () => text);
  },
});

/** Only for its help: the entry point runs the command before anything else is loaded. */
const hook = defineCommand({
  name: 'hook',
  about:
    'called by the hooks of agents: reads their JSON from standard input, answers in their format, never fails',
  args: [
    {
      name: 'event',
      about: 'the hook event',
      choices: ['pre-write', 'post-tool', 'pre-compact', 'session-start'],
    },
  ],
  flags: {
    agent: { type: 'string', value: 'preset', about: 'agent whose format is used (claude)' },
  },
  examples: ['hook pre-write --agent claude'],
  async run({ args: [event = ''], flags: { agent } }) {
    const { runHook } = await import('../../hooks/run.ts');
    await runHook([event, ...(agent === undefined ? [] : ['--agent', agent])]);
  },
});

export const hookCommands: readonly Command[] = [install, remove, list, hook];

const formatDone = ({ change, file }: Report, nothing: string): string => {
  if (change === 'none') return `nothing to do: ${file} ${nothing}`;
  return `${{ created: 'wrote', added: 'changed', replaced: 'changed', removed: 'removed the hooks of svc from' }[change]} ${file}`;
};

const formatPlanned = ({ change, file, text }: Report): string => {
  const what = {
    created: 'would create',
    added: 'would add to',
    replaced: 'would replace in',
    removed: 'would remove from',
    none: 'nothing to change in',
  }[change];
  return text === '' ? `${what} ${file}` : `${what} ${file}:\n\n${text}`;
};
