import { jsonFlag } from './mcp.ts';
import { TO_FILE } from './notify.ts';
import type { Preset } from './preset.ts';

export const qwen: Preset = {
  name: 'qwen',
  programs: ['qwen'],
  headless: 'qwen --output-format stream-json --approval-mode yolo --prompt={{prompt}}',
  headlessLong: null,
  interactive: 'qwen',
  acp: null,
  notify: TO_FILE,
  reader: null,
  resume: null,
  resumeInteractive: null,
  setUp: ({ mcp }) => ({
    args: mcp === null ? [] : [jsonFlag('--mcp-config', mcp)],
    env: {},
    files: [],
  }),
  auth: 'account',
  cannot: {},
};
