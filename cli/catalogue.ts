import { nearWords } from '../engine/index.ts';
import type { Command } from './command.ts';
import type { HelpGroup } from './help-groups.ts';

/** A file of commands, with their first words. */
interface CommandModule {
  words: readonly string[];
  load(): Promise<readonly Command[]>;
}

/** Commands that serve the same purpose, under one title in help and in docs/reference/commands.md. */
interface CommandGroup {
  title: HelpGroup;
  modules: readonly CommandModule[];
}

/**
 * Every command, in the order of help. A module is loaded when it is used: `svc task list` does not pay for `svc
 * demo`. The words are listed here so that completion and errors need not load the modules.
 */
const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    title: 'daily',
    modules: [
      { words: ['run'], load: async () => [(await import('./commands/daily/run.ts')).runPromptCommand] },
      {
        words: ['ls'],
        load: async () => {
          const { taskListCommand } = await import('./commands/work/task.ts');
          return [shorten(taskListCommand, 'ls', 'list tasks, newest first')];
        },
      },
      {
        words: ['log'],
        load: async () => {
          const { workerLogCommand } = await import('./commands/work/worker.ts');
          return [shorten(workerLogCommand, 'log', 'show what an agent did; -f follows it')];
        },
      },
      {
        words: ['diff'],
        load: async () => {
          const { diffCommand } = await import('./commands/worktrees/worktree.ts');
          return [shorten(diffCommand, 'diff', 'show what it changed')];
        },
      },
      {
        words: ['approve'],
        load: async () => {
          const { approveCommand } = await import('./commands/decide/decision.ts');
          return [shorten(approveCommand, 'approve', 'approve a task that waits for you, and start it')];
        },
      },
      {
        words: ['answer'],
        load: async () => {
          const { answerCommand } = await import('./commands/talk/ask.ts');
          return [shorten(answerCommand, 'answer', 'answer a question; its agent continues')];
        },
      },
      {
        words: ['merge'],
        load: async () => {
          const { promoteCommand } = await import('./commands/worktrees/worktree.ts');
          return [shorten(promoteCommand, 'merge', 'merge its branch into its base; nothing is pushed')];
        },
      },
      { words: ['stop'], load: async () => [(await import('./commands/daily/stop.ts')).stopCommand] },
    ],
  },
  {
    title: 'start',
    modules: [
      { words: ['init'], load: async () => [(await import('./commands/start/init.ts')).initCommand] },
      {
        words: ['setup'],
        load: async () => {
          const { setupCommands } = await import('./commands/start/setup/index.ts');
          return setupCommands;
        },
      },
      { words: ['doctor'], load: async () => [(await import('./commands/start/doctor.ts')).doctorCommand] },
      { words: ['demo'], load: async () => [(await import('./commands/demo/demo.ts')).demoCommand] },
      { words: ['dash'], load: async () => [(await import('./commands/start/dash.ts')).dashCommand] },
    ],
  },
  {
    title: 'work',
    modules: [
      { words: ['task'], load: async () => (await import('./commands/work/task.ts')).taskCommands },
      {
        words: ['schedule'],
        load: async () => (await import('./commands/work/schedule.ts')).scheduleCommands,
      },
      { words: ['worker'], load: async () => (await import('./commands/work/worker.ts')).workerCommands },
      { words: ['ledger'], load: async () => (await import('./commands/work/ledger.ts')).ledgerCommands },
      { words: ['lock'], load: async () => (await import('./commands/work/lock.ts')).lockCommands },
      { words: ['graph'], load: async () => (await import('./commands/work/graph.ts')).graphCommands },
      { words: ['memory'], load: async () => (await import('./commands/work/memory.ts')).memoryCommands },
    ],
  },
  {
    title: 'decide',
    modules: [
      {
        words: ['decision'],
        load: async () => (await import('./commands/decide/decision.ts')).decisionCommands,
      },
      { words: ['verify'], load: async () => (await import('./commands/decide/verify.ts')).verifyCommands },
    ],
  },
  {
    title: 'talk',
    modules: [
      { words: ['ask'], load: async () => (await import('./commands/talk/ask.ts')).askCommands },
      { words: ['msg'], load: async () => (await import('./commands/talk/msg.ts')).msgCommands },
    ],
  },
  {
    title: 'worktrees',
    modules: [
      {
        words: ['worktree'],
        load: async () => (await import('./commands/worktrees/worktree.ts')).worktreeCommands,
      },
      { words: ['guard'], load: async () => (await import('./commands/worktrees/guard.ts')).guardCommands },
      {
        words: ['project'],
        load: async () => (await import('./commands/worktrees/project.ts')).projectCommands,
      },
    ],
  },
  {
    title: 'integrate',
    modules: [
      { words: ['chair'], load: async () => [(await import('./commands/agents/chair.ts')).chairCommand] },
      { words: ['agents'], load: async () => (await import('./commands/agents/agents.ts')).agentsCommands },
      { words: ['mcp'], load: async () => (await import('./commands/agents/mcp.ts')).mcpCommands },
      {
        words: ['hook', 'hooks'],
        load: async () => (await import('./commands/agents/hooks.ts')).hookCommands,
      },
      {
        words: ['guidance'],
        load: async () => (await import('./commands/agents/guidance.ts')).guidanceCommands,
      },
      { words: ['tool'], load: async () => (await import('./commands/agents/tool.ts')).toolCommands },
      {
        words: ['context'],
        load: async () => (await import('./commands/agents/context.ts')).contextCommands,
      },
      { words: ['acp'], load: async () => (await import('./commands/agents/acp.ts')).acpCommands },
    ],
  },
  {
    title: 'configuration',
    modules: [
      {
        words: ['config'],
        load: async () => (await import('./commands/configuration/config.ts')).configCommands,
      },
      {
        words: ['trust'],
        load: async () => [(await import('./commands/configuration/trust.ts')).trustCommand],
      },
      {
        words: ['adopt'],
        load: async () => [(await import('./commands/configuration/adopt.ts')).adoptCommand],
      },
      {
        words: ['completion'],
        load: async () => [(await import('./commands/configuration/completion.ts')).completionCommand],
      },
      {
        words: ['__complete'],
        load: async () => [(await import('./commands/configuration/completion.ts')).completeCommand],
      },
    ],
  },
  {
    title: 'engine',
    modules: [
      {
        words: ['up', 'down', 'status', 'daemon'],
        load: async () => (await import('./commands/engine/engine.ts')).engineCommands,
      },
      {
        words: ['upgrade'],
        load: async () => [(await import('./commands/engine/upgrade.ts')).upgradeCommand],
      },
      { words: ['stats'], load: async () => [(await import('./commands/engine/stats.ts')).statsCommand] },
      { words: ['fleet'], load: async () => (await import('./commands/engine/fleet.ts')).fleetCommands },
      { words: ['source'], load: async () => (await import('./commands/engine/source.ts')).sourceCommands },
      { words: ['runner'], load: async () => (await import('./commands/engine/runner.ts')).runnerCommands },
      { words: ['server'], load: async () => (await import('./commands/engine/server.ts')).serverCommands },
      {
        words: ['login', 'logout'],
        load: async () => (await import('./commands/engine/login.ts')).loginCommands,
      },
      {
        words: ['link', 'unlink'],
        load: async () => (await import('./commands/engine/link.ts')).linkCommands,
      },
      {
        words: ['telemetry'],
        load: async () => (await import('./commands/engine/telemetry.ts')).telemetryCommands,
      },
      {
        words: ['entitlements'],
        load: async () => [(await import('./commands/engine/entitlements.ts')).entitlementsCommand],
      },
      {
        words: ['gateway'],
        load: async () => (await import('./commands/engine/gateway.ts')).gatewayCommands,
      },
      {
        words: ['webhook'],
        load: async () => (await import('./commands/engine/webhook.ts')).webhookCommands,
      },
      { words: ['clean'], load: async () => (await import('./commands/engine/clean.ts')).cleanCommands },
      { words: ['notify'], load: async () => (await import('./commands/engine/notify.ts')).notifyCommands },
    ],
  },
];

/** Gives a command a second, shorter name, also in its examples. */
function shorten(command: Command, name: string, about: string): Command {
  const examples = command.examples.map((each) => each.replace(command.name, name));
  return { ...command, name, about, examples: examples as unknown as Command['examples'] };
}

const MODULES = COMMAND_GROUPS.flatMap(({ modules }) => modules);

/** The words that can follow `svc`. */
export const FIRST_WORDS: readonly string[] = MODULES.flatMap(({ words }) => words);

/** First words of other programs for the same thing. */
const SYNONYMS: Readonly<Record<string, string>> = {
  list: 'ls',
  ps: 'ls',
  logs: 'log',
  dashboard: 'dash',
};

/** First words that could mean several commands, with the choice. */
const CHOICES: Readonly<Record<string, string>> = {
  new: 'svc run "…" has an agent do something; svc task add only writes it down',
  start: 'svc run "…" starts an agent, svc up the engine',
  work: 'svc ls lists the work, svc run "…" starts some',
};

/** More commands than this are not named when their second word is given first. */
const MOST_SECONDS = 3;

/** Describes the right command for an unknown first word; null if it resembles none. */
export async function suggestCommand(first: string): Promise<string | null> {
  if (Object.hasOwn(CHOICES, first)) return CHOICES[first] ?? null;
  const seconds = (await loadCommands())
    .filter(({ name, hidden }) => !hidden && name.split(' ')[1] === first)
    .map(({ name }) => `svc ${name}`);
  if (seconds.length > MOST_SECONDS)
    return `did you mean ${seconds.slice(0, MOST_SECONDS).join(', ')} or another ${first}? svc help lists them`;
  if (seconds.length > 0) return `did you mean ${seconds.join(' or ')}?`;
  const { findNearest } = await nearWords();
  const close = findNearest(first, [...FIRST_WORDS, ...Object.keys(SYNONYMS), ...Object.keys(CHOICES)]);
  return close === undefined ? null : (CHOICES[close] ?? `did you mean svc ${SYNONYMS[close] ?? close}?`);
}

/** Finds the command that the words name, and how many words it took; null for none. */
export async function findCommand([given = '', ...rest]: readonly string[]): Promise<{
  command: Command;
  taken: number;
} | null> {
  const words = [Object.hasOwn(SYNONYMS, given) ? (SYNONYMS[given] ?? '') : given, ...rest];
  const module = MODULES.find((each) => each.words.includes(words[0] ?? ''));
  if (!module) return null;
  const commands = await module.load();
  for (const taken of [2, 1]) {
    const name = words.slice(0, taken).join(' ');
    const command = words.length >= taken ? commands.find((each) => each.name === name) : undefined;
    if (command) return { command, taken };
  }
  return null;
}

async function loadModules(modules: readonly CommandModule[]): Promise<Command[]> {
  return (await Promise.all(modules.map((module) => module.load()))).flat();
}

export const loadCommands = (): Promise<Command[]> => loadModules(MODULES);

/** The commands that people use, as help shows them. */
export const loadCommandGroups = (): Promise<{ title: HelpGroup; commands: Command[] }[]> =>
  Promise.all(
    COMMAND_GROUPS.map(async ({ title, modules }) => ({
      title,
      commands: (await loadModules(modules)).filter(({ hidden }) => !hidden),
    })),
  );
