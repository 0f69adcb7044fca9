import { SvcError } from '../../errors.ts';
import { TO_OPENCODE } from './notify.ts';
import type { Preset } from './preset.ts';

export const opencode: Preset = {
  name: 'opencode',
  programs: ['opencode'],
  headless: 'opencode run --format json --auto --title={{name}} < {{prompt_file}}',
  headlessLong: null,
  interactive: 'opencode --hostname 127.0.0.1 --port {{notify_port}}',
  acp: 'opencode acp',
  notify: TO_OPENCODE,
  reader: null,
  resume: null,
  resumeInteractive: null,
  setUp({ mcp, env }) {
    if (mcp === null) return { args: [], env: {}, files: [] };
    const { command, args, env: environment } = mcp;
    const entry = { type: 'local', command: [command, ...args], environment, enabled: true };
    const config = withServer(env.OPENCODE_CONFIG_CONTENT, entry);
    return { args: [], env: { OPENCODE_CONFIG_CONTENT: config }, files: [] };
  },
  auth: 'account',
  home: {
    own: ['.config/opencode', '.local/share/opencode', '.local/state/opencode', '.cache/opencode'],
    copied: [],
    login: ['.local/share/opencode/auth.json', '.local/share/opencode/mcp-auth.json'],
    settings: [
      'opencode.json',
      'opencode.jsonc',
      'config.json',
      'AGENTS.md',
      'agent',
      'command',
      'plugin',
      'skill',
    ].map((name) => `.config/opencode/${name}`),
  },
  cannot: {},
};

/** The variable may already carry configuration of the person's own. */
function withServer(present: string | undefined, entry: object): string {
  let config: unknown = {};
  try {
    if (present) config = JSON.parse(present);
  } catch {
    config = null;
  }
  if (!isObject(config) || !(config.mcp === undefined || isObject(config.mcp))) {
    throw new SvcError(
      'config_invalid',
      'OPENCODE_CONFIG_CONTENT is set to something that is not a JSON configuration',
      {
        hint: 'unset it, or correct it',
      },
    );
  }
  return JSON.stringify({ ...config, mcp: { ...config.mcp, svc: entry } });
}

const isObject = (value: unknown): value is Record<string, object> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
