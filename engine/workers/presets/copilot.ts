import { jsonFlag } from './mcp.ts';
import { TO_FILE } from './notify.ts';
import { homeFolder, type Preset } from './preset.ts';

export const copilot: Preset = {
  name: 'copilot',
  programs: ['copilot'],
  headless:
    'copilot --output-format json --allow-all --no-ask-user --trust-folder --no-auto-update --name={{name}} --prompt={{prompt}}',
  headlessLong: null,
  interactive: 'copilot',
  acp: null,
  notify: TO_FILE,
  reader: null,
  resume: null,
  resumeInteractive: null,
  setUp: ({ mcp }) => ({
    args: mcp === null ? [] : [jsonFlag('--additional-mcp-config', mcp, { type: 'local', tools: ['*'] })],
    env: {},
    files: [],
  }),
  auth: 'account',
  home: homeFolder('.copilot', {
    login: ['config.json'],
    settings: ['mcp-config.json', 'settings.json', 'agents', 'skills', 'hooks'],
  }),
  cannot: {},
};
