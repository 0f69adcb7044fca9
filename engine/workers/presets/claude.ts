import { jsonFlag } from './mcp.ts';
import { TO_FILE } from './notify.ts';
import type { Preset } from './preset.ts';

const OPTIONS =
  'claude -p --output-format stream-json --verbose --permission-mode bypassPermissions --name={{name}}';

export const claude: Preset = {
  name: 'claude',
  programs: ['claude'],
  headless: `${OPTIONS} -- {{prompt}}`,
  headlessLong: `${OPTIONS} < {{prompt_file}}`,
  interactive: 'claude',
  acp: 'claude-agent-acp',
  notify: TO_FILE,
  reader: null,
  resume: null,
  resumeInteractive: null,
  setUp: ({ mcp }) => ({
    args: mcp === null ? [] : [jsonFlag('--mcp-config', mcp, { type: 'stdio' })],
    env: {},
    files: [],
  }),
  auth: 'account',
  cannot: {},
};
