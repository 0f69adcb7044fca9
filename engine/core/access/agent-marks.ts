/** Variables that show that an agent started a command: set by svc for agents, or by the agents in their shells. */
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
