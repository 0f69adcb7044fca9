import { TO_FILE } from './notify.ts';
import { NOTHING, type Preset } from './preset.ts';

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
  cannot: {
    mcp: 'it reads its servers from files of the project or the person only',
    gateway: 'it asks for a key of its own service whatever model it uses',
  },
};
