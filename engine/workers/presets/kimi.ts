import { TO_FILE } from './notify.ts';
import { NOTHING, type Preset } from './preset.ts';

export const kimi: Preset = {
  name: 'kimi',
  programs: ['kimi'],
  headless: 'kimi --output-format stream-json --prompt={{prompt}}',
  headlessLong: null,
  interactive: 'kimi',
  acp: null,
  notify: TO_FILE,
  reader: null,
  resume: null,
  resumeInteractive: null,
  setUp: () => NOTHING,
  auth: 'account',
  cannot: { mcp: 'its only way for one run hides the login of the person' },
};
