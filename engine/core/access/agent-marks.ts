/** Variables by which a command can tell that an agent has started it: what svc sets for one, and what the programs set in their shells. */
export const AGENT_MARKS = [
  'SVC_AGENT',
  'CLAUDECODE',
  'CLAUDE_CODE_ENTRYPOINT',
  'CODEX_SANDBOX',
  'CODEX_THREAD_ID',
  'CURSOR_AGENT',
  'GEMINI_CLI',
  'OPENCODE',
  'QWEN_CODE',
] as const;
