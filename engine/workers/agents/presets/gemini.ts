import { join } from 'node:path';
import { findRouteLimits } from '../../../core/models/index.ts';
import { createGeminiReader } from '../streams/gemini.ts';
import { escapeCommandAndFiles } from './escape-prompt.ts';
import { buildShellHook, groupedHooks, groupHookEntries, HOOK_TIMEOUT_SEC } from './hooks.ts';
import { TO_FILE } from './notify.ts';
import { NOTHING, type Preset, shareHomeFolder, withArguments } from './preset.ts';

const HOOKS = groupedHooks(
  {
    'pre-write': { name: 'BeforeTool', matcher: 'write_file|replace' },
    'post-tool': { name: 'AfterTool', matcher: '*' },
    // PreCompress comes before every request and accepts no text; no event follows it.
  },
  // Milliseconds here.
  (line, event) => ({
    name: `svc-${event}`,
    ...buildShellHook(line, event),
    timeout: HOOK_TIMEOUT_SEC * 1000,
  }),
);

const MOST_ATTEMPTS = 3;

/** The window that it assumes for every model, in tokens; it compresses at half of it. */
const ASSUMED_WINDOW = 1_048_576;

export const gemini: Preset = {
  name: 'gemini',
  programs: ['gemini'],
  headless: 'gemini --output-format stream-json --approval-mode yolo --skip-trust --prompt={{prompt}}',
  headlessLong: 'gemini --output-format stream-json --approval-mode yolo --skip-trust < {{prompt_file}}',
  unasked: ['--approval-mode yolo', '--skip-trust'],
  interactive: 'gemini',
  acp: null,
  notify: TO_FILE,
  reader: createGeminiReader,
  resume: (argv, id) => withArguments(argv, [`--resume=${id}`]),
  resumeInteractive: (argv, id) => withArguments(argv, [`--resume=${id}`]),
  hooks: HOOKS,
  literal: escapeCommandAndFiles,
  setUpRun({ mcp, gateway, hooks, folder }) {
    // Settings and login are in the same home: another home only if no login is needed.
    if (gateway === null) return NOTHING;
    const home = join(folder, 'gemini');
    const { context } = findRouteLimits(gateway.models);
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      // Its default is ten attempts: minutes in which a limit is not reported.
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: MOST_ATTEMPTS },
      privacy: { usageStatisticsEnabled: false },
      ...(context === null || context >= ASSUMED_WINDOW
        ? {}
        : { model: { compressionThreshold: context / ASSUMED_WINDOW / 2 } }),
      ...(mcp === null
        ? {}
        : { mcpServers: { svc: { command: mcp.command, args: mcp.args, env: mcp.env } } }),
      ...(hooks === null ? {} : { hooks: groupHookEntries(HOOKS, hooks) }),
    };
    return {
      args: [],
      env: {
        GEMINI_CLI_HOME: home,
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
        GOOGLE_GEMINI_BASE_URL: gateway.url,
        GEMINI_API_KEY: gateway.key,
        // Either would take precedence over the key.
        GOOGLE_API_KEY: '',
        GOOGLE_GENAI_USE_VERTEXAI: '',
      },
      files: [{ path: join(home, '.gemini', 'settings.json'), text: JSON.stringify(settings, null, 2) }],
    };
  },
  auth: 'gateway',
  hasRoutedHome: true,
  home: shareHomeFolder('.gemini', {
    login: ['oauth_creds.json', 'google_accounts.json'],
    settings: ['settings.json', 'installation_id', '.env', 'GEMINI.md', 'commands', 'extensions', 'skills'],
  }),
  cannot: {
    mcp: "its only per-run setting hides the person's login",
    hooks: "its only per-run setting hides the person's login",
    refusal: 'it ends such a turn like any other',
    length: 'it ends such a turn like any other',
  },
};
