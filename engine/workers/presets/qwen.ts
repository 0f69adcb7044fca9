import { join } from 'node:path';
import { claudeHooks, HOOK_TIMEOUT_SEC } from './claude-hooks.ts';
import { createClaudeReader } from './claude-stream.ts';
import { jsonFlag } from './mcp.ts';
import { TO_FILE } from './notify.ts';
import { homeFolder, type Preset, type RunSetup, withArguments } from './preset.ts';
import { shellCommand } from './shell-command.ts';

const OPTIONS = 'qwen --output-format stream-json --approval-mode yolo';

/** Asked for where the person has not set another one. */
const MODEL = 'qwen3-coder-plus';

/** Lowest of all its settings, so that a person's own stay what they are. */
const DEFAULTS = 'QWEN_CODE_SYSTEM_DEFAULTS_PATH';

export const qwen: Preset = {
  name: 'qwen',
  programs: ['qwen'],
  headless: `${OPTIONS} --prompt={{prompt}}`,
  headlessLong: `${OPTIONS} < {{prompt_file}}`,
  interactive: 'qwen',
  acp: null,
  notify: TO_FILE,
  reader: createClaudeReader,
  resume: (argv, id) => withArguments(argv, [`--resume=${id}`]),
  resumeInteractive: (argv, id) => withArguments(argv, [`--resume=${id}`]),
  setUp({ mcp, gateway, hooks, folder, env }) {
    const setup: RunSetup = { args: [], env: {}, files: [] };
    if (mcp !== null) setup.args.push(jsonFlag('--mcp-config', mcp));
    if (gateway !== null) {
      const url = `${gateway.url}/v1`;
      setup.args.push('--auth-type=openai', `--openai-base-url=${url}`);
      Object.assign(setup.env, {
        OPENAI_BASE_URL: url,
        OPENAI_API_KEY: gateway.key,
        OPENAI_MODEL: env.OPENAI_MODEL || MODEL,
        QWEN_USAGE_STATISTICS_ENABLED: 'false',
      });
    }
    // A machine's own defaults, where it has some, are not to be hidden.
    if (hooks !== null && !env[DEFAULTS]) {
      const path = join(folder, 'qwen-defaults.json');
      const entry = (line: Parameters<typeof shellCommand>[0]): object => ({
        type: 'command',
        command: shellCommand(line),
        timeout: HOOK_TIMEOUT_SEC * 1000,
      });
      const matchers = { 'pre-write': '^(write_file|edit|notebook_edit)$' };
      setup.env[DEFAULTS] = path;
      setup.files.push({ path, text: JSON.stringify({ hooks: claudeHooks(hooks, entry, matchers) }) });
    }
    return setup;
  },
  auth: 'account',
  home: homeFolder('.qwen', {
    login: ['oauth_creds.json'],
    settings: [
      'settings.json',
      'installation_id',
      '.env',
      'QWEN.md',
      'agents',
      'commands',
      'extensions',
      'skills',
    ],
  }),
  cannot: {},
};
