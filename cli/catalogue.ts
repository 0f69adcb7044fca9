import type { Command } from './command.ts';

/** A file of commands, with their first words. */
interface CommandModule {
  words: readonly string[];
  load(): Promise<readonly Command[]>;
}

/** Commands that serve the same purpose, under one title in help and in docs/commands.md. */
interface CommandGroup {
  title: string;
  modules: readonly CommandModule[];
}

/**
 * Every command, in the order of help. A module is loaded when it is used: `svc task list` does not pay for `svc
 * demo`. The words are listed here so that completion and errors need not load the modules.
 */
const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    title: 'start here',
    modules: [
      { words: ['init'], load: async () => [(await import('./commands/init.ts')).initCommand] },
      { words: ['doctor'], load: async () => [(await import('./commands/doctor.ts')).doctorCommand] },
      { words: ['demo'], load: async () => [(await import('./commands/demo.ts')).demoCommand] },
      { words: ['dash'], load: async () => [(await import('./commands/dash.ts')).dashCommand] },
    ],
  },
  {
    title: 'work',
    modules: [
      { words: ['task'], load: async () => (await import('./commands/task.ts')).taskCommands },
      { words: ['worker'], load: async () => (await import('./commands/worker.ts')).workerCommands },
      { words: ['ledger'], load: async () => (await import('./commands/ledger.ts')).ledgerCommands },
      { words: ['lock'], load: async () => (await import('./commands/lock.ts')).lockCommands },
      { words: ['graph'], load: async () => (await import('./commands/graph.ts')).graphCommands },
      { words: ['memory'], load: async () => (await import('./commands/memory.ts')).memoryCommands },
    ],
  },
  {
    title: 'decide',
    modules: [
      { words: ['decision'], load: async () => (await import('./commands/decision.ts')).decisionCommands },
      { words: ['verify'], load: async () => (await import('./commands/verify.ts')).verifyCommands },
    ],
  },
  {
    title: 'talk',
    modules: [
      { words: ['ask'], load: async () => (await import('./commands/ask.ts')).askCommands },
      { words: ['msg'], load: async () => (await import('./commands/msg.ts')).msgCommands },
    ],
  },
  {
    title: 'worktrees',
    modules: [
      { words: ['worktree'], load: async () => (await import('./commands/worktree.ts')).worktreeCommands },
      { words: ['guard'], load: async () => (await import('./commands/guard.ts')).guardCommands },
      { words: ['project'], load: async () => (await import('./commands/project.ts')).projectCommands },
    ],
  },
  {
    title: 'agents',
    modules: [
      { words: ['chair'], load: async () => [(await import('./commands/chair.ts')).chairCommand] },
      { words: ['agents'], load: async () => (await import('./commands/agents.ts')).agentsCommands },
      { words: ['mcp'], load: async () => (await import('./commands/mcp.ts')).mcpCommands },
      { words: ['hook', 'hooks'], load: async () => (await import('./commands/hooks.ts')).hookCommands },
      { words: ['guidance'], load: async () => (await import('./commands/guidance.ts')).guidanceCommands },
      { words: ['tool'], load: async () => (await import('./commands/tool.ts')).toolCommands },
      { words: ['context'], load: async () => (await import('./commands/context.ts')).contextCommands },
      { words: ['acp'], load: async () => (await import('./commands/acp.ts')).acpCommands },
    ],
  },
  {
    title: 'configuration',
    modules: [
      { words: ['config'], load: async () => (await import('./commands/config.ts')).configCommands },
      { words: ['trust'], load: async () => [(await import('./commands/trust.ts')).trustCommand] },
      { words: ['adopt'], load: async () => [(await import('./commands/adopt.ts')).adoptCommand] },
      {
        words: ['completion'],
        load: async () => [(await import('./commands/completion.ts')).completionCommand],
      },
      {
        words: ['__complete'],
        load: async () => [(await import('./commands/completion.ts')).completeCommand],
      },
    ],
  },
  {
    title: 'engine',
    modules: [
      {
        words: ['up', 'down', 'status', 'daemon'],
        load: async () => (await import('./commands/engine.ts')).engineCommands,
      },
      { words: ['stats'], load: async () => [(await import('./commands/stats.ts')).statsCommand] },
      { words: ['server'], load: async () => (await import('./commands/server.ts')).serverCommands },
      { words: ['login', 'logout'], load: async () => (await import('./commands/login.ts')).loginCommands },
      { words: ['link', 'unlink'], load: async () => (await import('./commands/link.ts')).linkCommands },
      {
        words: ['telemetry'],
        load: async () => (await import('./commands/telemetry.ts')).telemetryCommands,
      },
      {
        words: ['entitlements'],
        load: async () => [(await import('./commands/entitlements.ts')).entitlementsCommand],
      },
      { words: ['gateway'], load: async () => (await import('./commands/gateway.ts')).gatewayCommands },
      { words: ['webhook'], load: async () => (await import('./commands/webhook.ts')).webhookCommands },
      { words: ['clean'], load: async () => (await import('./commands/clean.ts')).cleanCommands },
      { words: ['notify'], load: async () => (await import('./commands/notify.ts')).notifyCommands },
    ],
  },
];

const MODULES = COMMAND_GROUPS.flatMap(({ modules }) => modules);

/** The words that can follow `svc`. */
export const FIRST_WORDS: readonly string[] = MODULES.flatMap(({ words }) => words);

/** Finds the command that the words name, and how many words it took; null for none. */
export async function findCommand(
  words: readonly string[],
): Promise<{ command: Command; taken: number } | null> {
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
export const loadCommandGroups = (): Promise<{ title: string; commands: Command[] }[]> =>
  Promise.all(
    COMMAND_GROUPS.map(async ({ title, modules }) => ({
      title,
      commands: (await loadModules(modules)).filter(({ hidden }) => !hidden),
    })),
  );
