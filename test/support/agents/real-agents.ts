import type { Step } from '../../../fixtures/model/model.ts';
import { missing } from './agents.ts';

/** Steps that commit the files in the agent's shell. */
export const COMMIT = 'git add -A && git commit -qm "Say hello"';
const EVIDENCE = { criteria: [], tests: [{ command: 'true', passed: true }], summary: 'a greeting' };
/** An answer to the ask of `workerRound`; the question does not contain it. */
export const ANSWER = 'green-7';

/** A real agent program that plays `workerRound`. */
export interface RoundAgent {
  /** Steps with the agent's own tools, whose names and arguments differ. */
  write(path: string): Step & { call: string };
  shell(command: string): Step & { call: string };
  /** Settings that make it give up soon. */
  env?: Record<string, string>;
  home?: Record<string, string>;
  /** True if it never reports its tokens. */
  isSilentOnUsage?: boolean;
  /** True if its model finds our tools by a search, and calls them through another tool. */
  searchesTools?: boolean;
  /** The revision of MCP that it settles on with svc; docs/extend/mcp.md lists them. */
  revision: string;
}

export interface RealAgent extends RoundAgent {
  /** Its command without the option that permits everything. */
  careful: string;
  codes: Record<400 | 401 | 429, string>;
  /** True if it hides forbidden tools from its model, so a denial never occurs and cannot be reported. */
  isMuteWhenDenied?: boolean;
}

const described = (call: string, command: string) => ({ call, arguments: { command, description: 'Shell' } });

/** Real agent programs of `.ci/agents.sh`, with what a test needs to know about each. */
export const REAL_AGENTS: Record<string, RealAgent> = {
  claude: {
    revision: '2026-07-28',
    write: (path) => ({ call: 'Write', arguments: { file_path: path, content: 'hello\n' } }),
    shell: (command) => described('Bash', command),
    env: { CLAUDE_CODE_MAX_RETRIES: '1' },
    careful: 'claude -p --output-format stream-json --verbose -- {{prompt}}',
    codes: { 400: 'model_error', 401: 'auth_failed', 429: 'rate_limited' },
  },
  codex: {
    revision: '2025-06-18',
    write: (path) => ({
      call: 'exec_command',
      arguments: {
        cmd: `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${path}\n+hello\n*** End Patch\nEOF`,
      },
    }),
    shell: (cmd) => ({ call: 'exec_command', arguments: { cmd } }),
    home: {
      // With an unknown model, codex offers its basic tools.
      '.codex/config.toml':
        'model = "stand-in"\n[model_providers.svc]\nname = "svc"\nrequest_max_retries = 0\nstream_max_retries = 0\n',
    },
    careful: 'codex exec --json --skip-git-repo-check -s read-only -c approval_policy=never -- {{prompt}}',
    codes: { 400: 'model_error', 401: 'auth_failed', 429: 'rate_limited' },
  },
  gemini: {
    revision: '2025-06-18',
    write: (path) => ({ call: 'write_file', arguments: { file_path: path, content: 'hello\n' } }),
    shell: (command) => described('run_shell_command', command),
    careful: 'gemini --output-format stream-json --skip-trust --prompt={{prompt}}',
    isMuteWhenDenied: true,
    codes: { 400: 'model_error', 401: 'auth_failed', 429: 'rate_limited' },
  },
  opencode: {
    revision: '2025-11-25',
    write: (path) => ({ call: 'write', arguments: { filePath: path, content: 'hello\n' } }),
    shell: (command) => described('bash', command),
    careful: 'opencode run --format json < {{prompt_file}}',
    codes: { 400: 'model_error', 401: 'auth_failed', 429: 'rate_limited' },
  },
  qwen: {
    revision: '2025-11-25',
    write: (path) => ({ call: 'write_file', arguments: { file_path: path, content: 'hello\n' } }),
    shell: (command) => ({ call: 'run_shell_command', arguments: { command, is_background: false } }),
    careful: 'qwen --output-format stream-json --approval-mode default --prompt={{prompt}}',
    searchesTools: true,
    isMuteWhenDenied: true,
    codes: { 400: 'model_error', 401: 'auth_failed', 429: 'rate_limited' },
  },
  copilot: {
    revision: '2026-07-28',
    write: (path) => ({ call: 'create', arguments: { path, file_text: 'hello\n' } }),
    shell: (command) => described('bash', command),
    careful: 'copilot --output-format json --no-ask-user --trust-folder --no-auto-update --prompt={{prompt}}',
    isSilentOnUsage: true,
    codes: { 400: 'model_error', 401: 'auth_failed', 429: 'rate_limited' },
  },
};

/** The same with kimi, whose failures `presets-1.test.ts` covers. */
export const ROUND_AGENTS: Record<string, RoundAgent> = {
  ...REAL_AGENTS,
  kimi: {
    revision: '2025-11-25',
    write: (path) => ({ call: 'Write', arguments: { path, content: 'hello\n' } }),
    shell: (command) => described('Bash', command),
    isSilentOnUsage: true,
  },
};

/** Steps that call our tools, each with its arguments. */
function callOurs(agent: RoundAgent, calls: readonly (readonly [string, Record<string, unknown>])[]): Step[] {
  if (agent.searchesTools !== true) return calls.map(([call, given]) => ({ call, arguments: given }));
  const full = (tool: string): string => `mcp__svc__${tool}`;
  const query = `select:${calls.map(([tool]) => full(tool)).join(',')}`;
  return [
    { call: 'tool_search', arguments: { query } },
    ...calls.map(([tool, given]) => ({
      call: 'tool_call',
      as: tool,
      arguments: { name: full(tool), arguments: given },
    })),
  ];
}

/** A call of our report tool with valid evidence. */
export const report = (agent: RoundAgent): Step[] => callOurs(agent, [['verify_report', EVIDENCE]]);

/** A worker's calls of our tools: it locks a file, asks, tells the answer to a session, and reports. */
export const workerRound = (agent: RoundAgent, { tells }: { tells: string }): Step[] =>
  callOurs(agent, [
    ['lock_acquire', { holder: 'me', path: 'hello.txt' }],
    ['ask', { question: 'Which colour?', timeout_sec: 600 }],
    ['msg_send', { to_session: tells, body: `It is {{ask./${ANSWER}/}}.` }],
    ['verify_report', EVIDENCE],
  ]);

/**
 * Returns why the tests of an agent are skipped, and prints it; otherwise false. Running all agents takes minutes:
 * without the variable, only the two fastest run, if installed.
 */
export function skipped(name: string): string | false {
  const wanted = (process.env.SVC_TEST_AGENTS ?? 'claude,codex').split(',');
  const isWanted = wanted.includes('all') || wanted.includes(name);
  const why = missing(name) || (!isWanted && `${name} is left out; SVC_TEST_AGENTS=all has all of them`);
  if (why) console.error(`NOT TESTED: ${why}`);
  return why;
}
