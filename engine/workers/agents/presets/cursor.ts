import { createCursorReader } from '../streams/cursor.ts';
import { flatHooks, HOOK_TIMEOUT_SEC } from './hooks.ts';
import { TO_FILE } from './notify.ts';
import { NOTHING, type Preset, withArguments } from './preset.ts';
import { formatShellCommand } from './shell-command.ts';

// From its documentation, not tested: no registry has the program.
export const cursor: Preset = {
  name: 'cursor',
  programs: ['cursor-agent', 'agent'],
  headless: 'cursor-agent -p --output-format stream-json --force --trust --approve-mcps -- {{prompt}}',
  headlessLong: null,
  unasked: ['--force', '--trust', '--approve-mcps'],
  interactive: 'cursor-agent',
  acp: null,
  notify: TO_FILE,
  reader: createCursorReader,
  resume: (argv, id) => withArguments(argv, [`--resume=${id}`]),
  resumeInteractive: (argv, id) => withArguments(argv, [`--resume=${id}`]),
  hooks: flatHooks(
    {
      'pre-write': { name: 'preToolUse', matcher: 'Write|Edit|Delete' },
      'post-tool': { name: 'postToolUse' },
      'session-start': { name: 'sessionStart' },
    },
    (line) => ({ command: formatShellCommand(line), timeout: HOOK_TIMEOUT_SEC }),
  ),
  setUpRun: () => NOTHING,
  auth: 'account',
  home: {
    own: ['.cursor', '.config/cursor'],
    copied: ['.cursor/cli-config.json'],
    login: ['.config/cursor/auth.json'],
    settings: ['.cursor/mcp.json', '.cursor/hooks.json', '.cursor/rules'],
  },
  cannot: {
    mcp: 'it reads its servers only from files of the project or the person',
    gateway: 'its command line cannot set the address of a model',
    usage: 'its token output is not documented',
    literal: 'how it handles them is not known',
    hooks: 'it reads its hooks only from files of the project or the person',
  },
};
