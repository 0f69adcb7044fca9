import { TO_FILE } from './notify.ts';
import { NO_HOME, NOTHING, type Preset } from './preset.ts';

export const antigravity: Preset = {
  name: 'antigravity',
  programs: ['agy'],
  headless: null,
  headlessLong: null,
  unasked: [],
  interactive: 'agy',
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
    gateway: 'it signs in with an account only',
    hooks: 'no per-run setting is known',
    headless: 'without a terminal it loses its output or hangs',
  },
};
