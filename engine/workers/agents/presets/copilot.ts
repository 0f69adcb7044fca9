import { join } from 'node:path';
import { findRouteLimits } from '../../../core/models/index.ts';
import { createCopilotReader } from '../streams/copilot.ts';
import { findCopilotSession } from './copilot-sessions.ts';
import { groupedHooks, groupHookEntries, type HookLines } from './hooks.ts';
import { formatServerFlag } from './mcp.ts';
import { TO_FILE } from './notify.ts';
import { type Preset, type RunSetup, shareHomeFolder, withArguments } from './preset.ts';

const OPTIONS =
  'copilot --output-format json --allow-all --no-ask-user --trust-folder --no-auto-update --name={{name}}';

/** With event names in this form it names its tools like claude. */
const HOOKS = groupedHooks({
  'pre-write': { name: 'PreToolUse', matcher: 'Write|Edit|MultiEdit|NotebookEdit' },
  'post-tool': { name: 'PostToolUse', matcher: '*' },
  // PreCompact accepts no text, and SessionStart comes at the very start, never after a compaction.
});

export const copilot: Preset = {
  name: 'copilot',
  programs: ['copilot'],
  headless: `${OPTIONS} --prompt={{prompt}}`,
  headlessLong: `${OPTIONS} < {{prompt_file}}`,
  unasked: ['--allow-all', '--no-ask-user', '--trust-folder'],
  interactive: 'copilot',
  acp: null,
  notify: TO_FILE,
  reader: createCopilotReader,
  // An existing session already has its name and trust, and does not accept them again.
  resume: (argv, id) =>
    withArguments(
      argv.filter((word) => word !== '--trust-folder' && !word.startsWith('--name=')),
      [`--resume=${id}`],
    ),
  resumeInteractive: (argv, id) => withArguments(argv, [`--resume=${id}`]),
  findSession: findCopilotSession,
  hooks: HOOKS,
  setUpRun({ mcp, gateway, hooks, folder, env }) {
    const setup: RunSetup = { args: [], env: {}, files: [] };
    if (mcp !== null) {
      setup.args.push(formatServerFlag('--additional-mcp-config', mcp, { type: 'local', tools: ['*'] }));
    }
    if (gateway !== null) {
      const model = env.COPILOT_MODEL || 'svc';
      const { context, output } = findRouteLimits(gateway.models, model);
      Object.assign(setup.env, {
        COPILOT_PROVIDER_BASE_URL: `${gateway.url}/v1`,
        COPILOT_PROVIDER_TYPE: 'openai',
        COPILOT_PROVIDER_API_KEY: gateway.key,
        // It requires the name of a model and has none for an unknown provider.
        COPILOT_MODEL: model,
        // No login, no telemetry and no update: only the route.
        COPILOT_OFFLINE: 'true',
        // Either would take precedence over the key.
        COPILOT_PROVIDER_BEARER_TOKEN: '',
        COPILOT_PROVIDER_API_KEY_COMMAND: '',
        ...(context === null || env.COPILOT_PROVIDER_MAX_PROMPT_TOKENS
          ? {}
          : { COPILOT_PROVIDER_MAX_PROMPT_TOKENS: String(context - (output ?? 0)) }),
        ...(output === null || env.COPILOT_PROVIDER_MAX_OUTPUT_TOKENS
          ? {}
          : { COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: String(output) }),
      });
    }
    if (gateway !== null || hooks !== null) setup.env.COPILOT_AUTO_UPDATE = 'false';
    if (hooks !== null) {
      const plugin = join(folder, 'copilot-plugin');
      setup.args.push(`--plugin-dir=${plugin}`);
      setup.files.push(...buildPluginFiles(plugin, hooks));
    }
    return setup;
  },
  auth: 'account',
  home: shareHomeFolder('.copilot', {
    login: ['config.json'],
    settings: ['mcp-config.json', 'settings.json', 'agents', 'skills', 'hooks'],
  }),
  cannot: {
    usage: 'it reports no tokens',
    refusal: 'it ends such a turn like any other',
    length: 'it ends such a turn like any other',
  },
};

/** Builds a plugin, the only place for hooks that is neither the person's nor the project's. */
function buildPluginFiles(folder: string, lines: HookLines): RunSetup['files'] {
  return [
    {
      path: join(folder, 'plugin.json'),
      text: JSON.stringify({ name: 'svc', version: '1.0.0', description: 'svc', hooks: 'hooks.json' }),
    },
    { path: join(folder, 'hooks.json'), text: JSON.stringify({ hooks: groupHookEntries(HOOKS, lines) }) },
  ];
}
