/** The same thing by its tool and by its command, so that a hint names what its reader has. */
const SAME: readonly (readonly [tool: string, command: string])[] = [
  ['ask_list', 'svc ask list'],
  ['lock_acquire', 'svc lock acquire'],
  ['lock_status', 'svc lock list'],
  ['memory_list', 'svc memory list'],
  ['msg_inbox', 'svc msg inbox'],
  ['msg_peers', 'svc msg peers'],
  ['task_assign', 'svc task assign'],
  ['task_list', 'svc task list'],
  ['task_run', 'svc task retry'],
  ['verify_status', 'svc verify show'],
  ['worktree_status', 'svc worktree list'],
];
/** What has no command of its own, and parameters. */
const TOOL_ONLY: readonly (readonly [tool: string, command: string])[] = [
  ['msg_roster', 'svc tool call msg_roster'],
  ['to_session', '--to-session'],
];

/** A hint for somebody who types commands. */
export const hintForCommands = (hint: string): string =>
  [...SAME, ...TOOL_ONLY].reduce(
    (text, [tool, command]) => text.replace(new RegExp(`\\b${tool}\\b`, 'g'), command),
    hint,
  );

/** A hint for an agent that calls tools. */
export const hintForTools = (hint: string): string =>
  SAME.reduce((text, [tool, command]) => text.replaceAll(command, tool), hint);
