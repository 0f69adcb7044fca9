import { TO_FILE } from './notify.ts';
import { NOTHING, type Preset } from './preset.ts';

export const gemini: Preset = {
  name: 'gemini',
  programs: ['gemini'],
  headless: 'gemini --output-format stream-json --approval-mode yolo --skip-trust --prompt={{prompt}}',
  headlessLong: null,
  interactive: 'gemini',
  acp: null,
  notify: TO_FILE,
  reader: null,
  resume: null,
  resumeInteractive: null,
  setUp: () => NOTHING,
  auth: 'account',
  cannot: { mcp: 'its only way for one run hides the login of the person' },
};
