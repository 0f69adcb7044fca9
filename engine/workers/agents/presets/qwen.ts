import { join } from 'node:path';
import { findRouteLimits } from '../../../core/models/index.ts';
import { createQwenReader } from '../streams/claude.ts';
import { escapeCommandAndFiles } from './escape-prompt.ts';
import { groupedHooks, groupHookEntries } from './hooks.ts';
import { formatServerFlag } from './mcp.ts';
import { TO_FILE } from './notify.ts';
import { type Preset, type RunSetup, shareHomeFolder, withArguments } from './preset.ts';

const OPTIONS = 'qwen --output-format stream-json --approval-mode yolo';

/** Requested if the person has not set another one. */
const MODEL = 'qwen3-coder-plus';

/** The lowest level of its settings, so that a person's own settings take precedence. */
const DEFAULTS = 'QWEN_CODE_SYSTEM_DEFAULTS_PATH';

const HOOKS = groupedHooks({
  'pre-write': { name: 'PreToolUse', matcher: '^(write_file|edit|notebook_edit)$' },
  'post-tool': { name: 'PostToolUse', matcher: '*' },
  'pre-compact': { name: 'PreCompact' },
  'session-start': { name: 'SessionStart', matcher: 'compact' },
});

export const qwen: Preset = {
  name: 'qwen',
  programs: ['qwen'],
  headless: `${OPTIONS} --prompt={{prompt}}`,
  headlessLong: `${OPTIONS} < {{prompt_file}}`,
  unasked: ['--approval-mode yolo'],
  interactive: 'qwen',
  acp: null,
  notify: TO_FILE,
  reader: createQwenReader,
  resume: (argv, id) => withArguments(argv, [`--resume=${id}`]),
  resumeInteractive: (argv, id) => withArguments(argv, [`--resume=${id}`]),
  hooks: HOOKS,
  literal: escapeCommandAndFiles,
  setUpRun({ mcp, gateway, hooks, folder, env }) {
    const setup: RunSetup = { args: [], env: {}, files: [] };
    if (mcp !== null) setup.args.push(formatServerFlag('--mcp-config', mcp));
    const defaults: { hooks?: object; model?: object } = {};
    if (gateway !== null) {
      const url = `${gateway.url}/v1`;
      const model = env.OPENAI_MODEL || MODEL;
      const { context } = findRouteLimits(gateway.models, model);
      setup.args.push('--auth-type=openai', `--openai-base-url=${url}`);
      Object.assign(setup.env, {
        OPENAI_BASE_URL: url,
        OPENAI_API_KEY: gateway.key,
        OPENAI_MODEL: model,
        QWEN_USAGE_STATISTICS_ENABLED: 'false',
      });
      // After its first few attempts it would silently wait for minutes, ten times.
      defaults.model = {
        generationConfig: { maxRetries: 0, ...(context === null ? {} : { contextWindowSize: context }) },
      };
    }
    if (hooks !== null) defaults.hooks = groupHookEntries(HOOKS, hooks);
    // A machine's own defaults, if it has some, must not be hidden.
    if (Object.keys(defaults).length > 0 && !env[DEFAULTS]) {
      const path = join(folder, 'qwen-defaults.json');
      setup.env[DEFAULTS] = path;
      setup.files.push({ path, text: JSON.stringify(defaults, null, 2) });
    }
    return setup;
  },
  auth: 'account',
  isRoutedByOptions: true,
  home: shareHomeFolder('.qwen', {
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
  cannot: {
    refusal: 'it ends such a turn like any other',
    length: 'it ends such a turn like any other',
  },
};
