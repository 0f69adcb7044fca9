import type { Command } from './command.ts';

/**
 * Every command by its first words, each group loaded when it is used: `svc task list` does not pay for `svc demo`.
 * The words are listed here so that help, completion and errors need not load the groups.
 */
export interface Group {
  words: readonly string[];
  load(): Promise<readonly Command[]>;
}

export const GROUPS: readonly Group[] = [
  { words: ['dash'], load: async () => [(await import('./commands/dash.ts')).dashCommand] },
  { words: ['init'], load: async () => [(await import('./commands/init.ts')).initCommand] },
  { words: ['adopt'], load: async () => [(await import('./commands/adopt.ts')).adoptCommand] },
  { words: ['config'], load: async () => (await import('./commands/config.ts')).configCommands },
  { words: ['trust'], load: async () => [(await import('./commands/trust.ts')).trustCommand] },
  {
    words: ['up', 'down', 'status', 'daemon'],
    load: async () => (await import('./commands/engine.ts')).engineCommands,
  },
  { words: ['task'], load: async () => (await import('./commands/task.ts')).taskCommands },
  { words: ['decision'], load: async () => (await import('./commands/decision.ts')).decisionCommands },
  { words: ['agents'], load: async () => (await import('./commands/agents.ts')).agentsCommands },
  { words: ['chair'], load: async () => [(await import('./commands/chair.ts')).chairCommand] },
  { words: ['ask'], load: async () => (await import('./commands/ask.ts')).askCommands },
  { words: ['lock'], load: async () => (await import('./commands/lock.ts')).lockCommands },
  { words: ['ledger'], load: async () => (await import('./commands/ledger.ts')).ledgerCommands },
  { words: ['verify'], load: async () => (await import('./commands/verify.ts')).verifyCommands },
  { words: ['worker'], load: async () => (await import('./commands/worker.ts')).workerCommands },
  { words: ['worktree'], load: async () => (await import('./commands/worktree.ts')).worktreeCommands },
  { words: ['project'], load: async () => (await import('./commands/project.ts')).projectCommands },
  { words: ['msg'], load: async () => (await import('./commands/msg.ts')).msgCommands },
  { words: ['webhook'], load: async () => (await import('./commands/webhook.ts')).webhookCommands },
  { words: ['notify'], load: async () => (await import('./commands/notify.ts')).notifyCommands },
  { words: ['mcp'], load: async () => (await import('./commands/mcp.ts')).mcpCommands },
  { words: ['hook', 'hooks'], load: async () => (await import('./commands/hooks.ts')).hookCommands },
  { words: ['acp'], load: async () => (await import('./commands/acp.ts')).acpCommands },
  { words: ['tool'], load: async () => (await import('./commands/tool.ts')).toolCommands },
  { words: ['demo'], load: async () => [(await import('./commands/demo.ts')).demoCommand] },
  { words: ['doctor'], load: async () => [(await import('./commands/doctor.ts')).doctorCommand] },
  { words: ['completion'], load: async () => [(await import('./commands/completion.ts')).completionCommand] },
  { words: ['__complete'], load: async () => [(await import('./commands/completion.ts')).completeCommand] },
];

/** The command that the words name, and how many of them it took; null for none. */
export async function findCommand(
  words: readonly string[],
): Promise<{ command: Command; taken: number } | null> {
  const group = GROUPS.find((each) => each.words.includes(words[0] ?? ''));
  if (!group) return null;
  const commands = await group.load();
  for (const taken of [2, 1]) {
    const name = words.slice(0, taken).join(' ');
    const command = words.length >= taken ? commands.find((each) => each.name === name) : undefined;
    if (command) return { command, taken };
  }
  return null;
}

export const allCommands = async (): Promise<Command[]> =>
  (await Promise.all(GROUPS.map((group) => group.load()))).flat();
