import type { AgentNotify } from '../config.ts';

/** Headless commands: split into words first, then filled in. `< {{prompt_file}}` opens the file as standard input. */
export const HEADLESS: Readonly<Record<string, string>> = {
  claude:
    'claude -p --output-format stream-json --verbose --permission-mode bypassPermissions --name={{name}} -- {{prompt}}',
  codex: 'codex exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -- {{prompt}}',
  gemini: 'gemini --output-format stream-json --approval-mode yolo --skip-trust --prompt={{prompt}}',
  opencode: 'opencode run --format json --auto --title={{name}} < {{prompt_file}}',
  copilot:
    'copilot --output-format json --allow-all --no-ask-user --trust-folder --no-auto-update --name={{name}} --prompt={{prompt}}',
  qwen: 'qwen --output-format stream-json --approval-mode yolo --prompt={{prompt}}',
  kimi: 'kimi --output-format stream-json --prompt={{prompt}}',
  cursor: 'cursor-agent -p --output-format stream-json --force --trust --approve-mcps -- {{prompt}}',
  droid: 'droid exec --output-format stream-json --skip-permissions-unsafe -- {{prompt}}',
};

/** Commands that open an agent for a person. antigravity and kiro exist only here: they do not run headless. */
export const INTERACTIVE: Readonly<Record<string, string>> = {
  claude: 'claude',
  codex: 'codex',
  gemini: 'gemini',
  opencode: 'opencode --hostname 127.0.0.1 --port {{notify_port}}',
  copilot: 'copilot',
  qwen: 'qwen',
  kimi: 'kimi',
  cursor: 'cursor-agent',
  droid: 'droid',
  antigravity: 'agy',
  kiro: 'kiro-cli',
};

/** Commands that serve the agent client protocol on standard input and output. */
export const ACP: Readonly<Record<string, string>> = {
  opencode: 'opencode acp',
  claude: 'claude-agent-acp',
};

/** Presets whose model calls cannot be sent through the gateway. */
export const ACCOUNT_ONLY: readonly string[] = ['cursor', 'droid', 'antigravity', 'kiro'];

const JSON_HEADERS = { 'Content-Type': 'application/json' };

/** Of agents that have no entry of their own, too. */
export const TO_FILE: AgentNotify = {
  mode: 'file',
  path: '.svc/notices/{{to_session}}.md',
  body: `## Message {{msg_id}} ({{kind}})

- from: {{from_agent}} ({{from_session}})
- to: {{to_agent}} ({{to_session}})

{{body}}

`,
};

// A value put into a JSON body is escaped as JSON text; the delivery does that by the content type.
const TO_OPENCODE: AgentNotify = {
  mode: 'http',
  steps: [
    {
      method: 'POST',
      url: '{{notify_base}}/tui/append-prompt',
      headers: JSON_HEADERS,
      body: '{"text":"[{{kind}} {{msg_id}} from {{from_agent}} {{from_session}}] {{body}}"}',
    },
    { method: 'POST', url: '{{notify_base}}/tui/submit-prompt', headers: JSON_HEADERS, body: '{}' },
  ],
};

/** How a message reaches an agent that is already running. */
export const NOTIFY: Readonly<Record<string, AgentNotify>> = Object.fromEntries(
  Object.keys(INTERACTIVE).map((preset) => [preset, preset === 'opencode' ? TO_OPENCODE : TO_FILE]),
);
