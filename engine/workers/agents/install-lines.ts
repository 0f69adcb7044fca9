/** The commands that install agents which npm has, by preset; the first one is suggested where only one fits. */
export const INSTALL_LINES: Readonly<Record<'claude' | 'codex' | 'gemini', string>> = {
  claude: 'npm install -g @anthropic-ai/claude-code',
  codex: 'npm install -g @openai/codex',
  gemini: 'npm install -g @google/gemini-cli',
};
