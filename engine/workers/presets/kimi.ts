import { join } from 'node:path';
import { createKimiReader } from '../streams/kimi.ts';
import { HOOK_TIMEOUT_SEC } from './claude-hooks.ts';
import { TO_FILE } from './notify.ts';
import {
  type CommandLine,
  type HookEvent,
  homeFolder,
  NOTHING,
  type Preset,
  withArguments,
} from './preset.ts';
import { shellCommand } from './shell-command.ts';
import { tomlText } from './toml.ts';

/** Asked for where the person has not set another one. */
const MODEL = 'kimi-for-coding';

const EVENTS: Partial<Record<HookEvent, { event: string; matcher?: string }>> = {
  'pre-write': { event: 'PreToolUse', matcher: '^(Write|Edit)$' },
  'post-tool': { event: 'PostToolUse' },
  'pre-compact': { event: 'PreCompact' },
};

export const kimi: Preset = {
  name: 'kimi',
  programs: ['kimi'],
  headless: 'kimi --output-format stream-json --prompt={{prompt}}',
  headlessLong: null,
  interactive: 'kimi',
  acp: null,
  notify: TO_FILE,
  reader: createKimiReader,
  resume: (argv, id) => withArguments(argv, [`--session=${id}`]),
  resumeInteractive: (argv, id) => withArguments(argv, [`--session=${id}`]),
  setUp({ mcp, gateway, hooks, folder, env }) {
    // Servers and hooks are read from its home alone, where the login is too: another one only where none is needed.
    if (gateway === null) return NOTHING;
    const home = join(folder, 'kimi');
    const server = mcp === null ? {} : { svc: { command: mcp.command, args: mcp.args, env: mcp.env } };
    return {
      args: [],
      env: {
        KIMI_CODE_HOME: home,
        // The key stays in the environment, which the file would take it out of.
        KIMI_MODEL_NAME: env.KIMI_MODEL_NAME || MODEL,
        KIMI_MODEL_PROVIDER_TYPE: 'openai',
        KIMI_MODEL_BASE_URL: `${gateway.url}/v1`,
        KIMI_MODEL_API_KEY: gateway.key,
        KIMI_CODE_NO_AUTO_UPDATE: '1',
        KIMI_DISABLE_TELEMETRY: '1',
      },
      files: [
        { path: join(home, 'config.toml'), text: hooks === null ? '' : hooksOf(hooks) },
        { path: join(home, 'mcp.json'), text: JSON.stringify({ mcpServers: server }) },
      ],
    };
  },
  auth: 'account',
  home: homeFolder('.kimi-code', {
    login: ['credentials', 'oauth'],
    settings: ['config.toml', 'mcp.json', 'device_id', 'skills'],
  }),
  cannot: {
    usage: 'it prints no tokens',
    mcp: 'its only way for one run hides the login of the person',
    hooks: 'its only way for one run hides the login of the person',
  },
};

const hooksOf = (hooks: Readonly<Record<HookEvent, CommandLine>>): string =>
  Object.entries(EVENTS)
    .map(([name, entry]) => {
      const command = shellCommand(hooks[name as HookEvent]);
      const lines = Object.entries({ ...entry, command }).map(([key, text]) => `${key} = ${tomlText(text)}`);
      return ['[[hooks]]', ...lines, `timeout = ${HOOK_TIMEOUT_SEC}`].join('\n');
    })
    .join('\n\n');
