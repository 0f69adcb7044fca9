import { join } from 'node:path';
import { createKimiReader } from '../streams/kimi.ts';
import { type AgentHooks, HOOK_TIMEOUT_SEC, type HookLines } from './hooks.ts';
import { TO_FILE } from './notify.ts';
import { NOTHING, type Preset, shareHomeFolder, withArguments } from './preset.ts';
import { formatShellCommand } from './shell-command.ts';
import { formatTomlValue } from './toml.ts';

/** Used unless the person has set another one. */
const MODEL = 'kimi-for-coding';

const MATCHER = '^(Write|Edit)$';

const HOOKS: AgentHooks = {
  // It reports the other events but accepts no text at them.
  moments: { 'pre-write': { name: 'PreToolUse', matcher: MATCHER } },
  listEntries: (lines) => [
    {
      list: '',
      entry: {
        event: 'PreToolUse',
        matcher: MATCHER,
        command: formatShellCommand(lines['pre-write']),
        timeout: HOOK_TIMEOUT_SEC,
      },
    },
  ],
};

export const kimi: Preset = {
  name: 'kimi',
  programs: ['kimi'],
  headless: 'kimi --output-format stream-json --prompt={{prompt}}',
  headlessLong: null,
  unasked: ['--prompt'],
  interactive: 'kimi',
  acp: null,
  notify: TO_FILE,
  reader: createKimiReader,
  resume: (argv, id) => withArguments(argv, [`--session=${id}`]),
  resumeInteractive: (argv, id) => withArguments(argv, [`--session=${id}`]),
  hooks: HOOKS,
  setUpRun({ mcp, gateway, hooks, folder, env }) {
    // Servers and hooks are only read from its home, which also contains the login: another home only if no login is needed.
    if (gateway === null) return NOTHING;
    const home = join(folder, 'kimi');
    const server = mcp === null ? {} : { svc: { command: mcp.command, args: mcp.args, env: mcp.env } };
    return {
      args: [],
      env: {
        KIMI_CODE_HOME: home,
        // Keep the key in the environment, out of the file.
        KIMI_MODEL_NAME: env.KIMI_MODEL_NAME || MODEL,
        KIMI_MODEL_PROVIDER_TYPE: 'openai',
        KIMI_MODEL_BASE_URL: `${gateway.url}/v1`,
        KIMI_MODEL_API_KEY: gateway.key,
        KIMI_CODE_NO_AUTO_UPDATE: '1',
        KIMI_DISABLE_TELEMETRY: '1',
      },
      files: [
        { path: join(home, 'config.toml'), text: hooks === null ? '' : formatHooks(hooks) },
        { path: join(home, 'mcp.json'), text: JSON.stringify({ mcpServers: server }) },
      ],
    };
  },
  auth: 'account',
  hasRoutedHome: true,
  home: shareHomeFolder('.kimi-code', {
    login: ['credentials', 'oauth'],
    settings: ['config.toml', 'mcp.json', 'device_id', 'skills'],
  }),
  cannot: {
    usage: 'it reports no tokens',
    length: 'it ends such a turn like any other',
    mcp: "its only per-run setting hides the person's login",
    hooks: "its only per-run setting hides the person's login",
  },
};

const formatHooks = (lines: HookLines): string =>
  HOOKS.listEntries(lines)
    .map(({ entry }) => Object.entries(entry).map(([key, value]) => `${key} = ${formatTomlValue(value)}`))
    .map((members) => ['[[hooks]]', ...members].join('\n'))
    .join('\n\n');
