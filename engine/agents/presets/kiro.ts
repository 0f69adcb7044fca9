import { TO_FILE } from './notify.ts';
import { NO_HOME, NOTHING, type Preset } from './preset.ts';

export const kiro: Preset = {
  name: 'kiro',
  programs: ['kiro-cli'],
  headless: null,
  headlessLong: null,
  unasked: [],
  interactive: 'kiro-cli',
  acp: null,
  notify: TO_FILE,
  reader: null,
  resume: null,
  resumeInteractive: null,
  hooks: null,
  setUpRun: () => NOTHING,
  auth: 'account',
  home: NO_HOME,
  cannot: {
    mcp: 'no per-run setting is known',
    gateway: 'it only uses models of its own service',
    hooks: 'no per-run setting is known',
    headless: 'without a terminal it requires a key for its own service',
  },
};
