import { createDroidReader } from '../streams/droid.ts';
import { groupedHooks } from './hooks.ts';
import { TO_FILE } from './notify.ts';
import { NOTHING, type Preset, shareHomeFolder, withArguments } from './preset.ts';

const OPTIONS = 'droid exec --output-format stream-json --skip-permissions-unsafe';

// Its options are from its own help; its output is from its documentation, since it only runs with its service.
export const droid: Preset = {
  name: 'droid',
  programs: ['droid'],
  headless: `${OPTIONS} -- {{prompt}}`,
  headlessLong: `${OPTIONS} -f {{prompt_file}}`,
  unasked: ['--skip-permissions-unsafe'],
  interactive: 'droid',
  acp: null,
  notify: TO_FILE,
  reader: createDroidReader,
  resume: (argv, id) => withArguments(argv, ['-s', id]),
  resumeInteractive: (argv, id) => withArguments(argv, ['--resume', id]),
  hooks: groupedHooks({
    'pre-write': { name: 'PreToolUse', matcher: 'Create|Edit|MultiEdit|ApplyPatch|Write' },
    'post-tool': { name: 'PostToolUse', matcher: '*' },
    'pre-compact': { name: 'PreCompact' },
    'session-start': { name: 'SessionStart', matcher: 'compact' },
  }),
  setUpRun: () => NOTHING,
  auth: 'account',
  home: shareHomeFolder('.factory', {
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
    mcp: 'it reads its servers only from files of the project or the person',
    gateway: 'it requires a key for its own service with every model',
    usage: 'its token output is not documented',
    literal: 'how it handles them is not known',
    hooks: 'it reads its hooks only from files of the project or the person',
  },
};
