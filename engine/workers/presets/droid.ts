import { TO_FILE } from './notify.ts';
import { homeFolder, NOTHING, type Preset } from './preset.ts';

export const droid: Preset = {
  name: 'droid',
  programs: ['droid'],
  headless: 'droid exec --output-format stream-json --skip-permissions-unsafe -- {{prompt}}',
  headlessLong: null,
  interactive: 'droid',
  acp: null,
  notify: TO_FILE,
  reader: null,
  resume: null,
  resumeInteractive: null,
  setUp: () => NOTHING,
  auth: 'account',
  home: homeFolder('.factory', {
    login: ['auth.json', 'auth.encrypted', 'auth.v2.file', 'auth.v2.key'],
    settings: [
      'settings.json',
      'config.json',
      'mcp.json',
      'hooks.json',
      'AGENTS.md',
      'droids',
      'commands',
      'skills',
    ],
  }),
  cannot: {
    mcp: 'it reads its servers from files of the project or the person only',
    gateway: 'it asks for a key of its own service whatever model it uses',
  },
};
