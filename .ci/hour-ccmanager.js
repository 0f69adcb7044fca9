// The column of ccmanager in docs/comparison.md, for .ci/hour.js. Its package for Linux is not in the registry, so its own program is
// run by bun: `npm install --prefix <folder> ccmanager@4.2.3 bun@1.4.5`, then SVC_BENCH_PEERS=<folder>.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openTerminal } from '../dist/test/support/terminal.js';
import { AGENT, makeWorkspace } from '../dist/test/support/workspace.js';

const MODULES = join(process.env.SVC_BENCH_PEERS ?? '', 'node_modules');
const BUN = join(MODULES, 'bun/bin/bun.exe');
const PACKAGE = join(MODULES, 'ccmanager');
const MENU = 'Select a worktree to start or resume';

export const hasCcmanager =
  process.env.SVC_BENCH_PEERS !== undefined && existsSync(PACKAGE) && existsSync(BUN);

const readVersion = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
export const describeCcmanager = () =>
  `ccmanager ${readVersion(PACKAGE)} on bun ${readVersion(join(MODULES, 'bun'))}`;

/** An agent that is told its task in its terminal, as ccmanager's are, and is one key from work. */
function writeHome(home) {
  const agent = join(home, 'agent');
  const ask = `stty sane; printf 'task? '; read -r words; exec '${process.execPath}' '${AGENT}' -- "$words"`;
  writeFileSync(agent, `#!/bin/sh\n${ask}\n`, { mode: 0o755 });
  writeFileSync(join(home, '.gitconfig'), '[user]\nname = Ada\nemail = ada@example.test\n');
  const folder = join(home, '.config/ccmanager');
  mkdirSync(folder, { recursive: true });
  const config = {
    commandPresets: { presets: [{ id: '1', name: 'agent', command: agent }], defaultPresetId: '1' },
    worktree: { autoDirectory: true, autoDirectoryPattern: '../{branch}', copySessionData: false },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
}

/** Presses keys one by one, each when the screen shows what the one before leads to. Its seconds are all that was waited for work. */
async function measureSteps(terminal, steps) {
  let ms = 0;
  for (const { key, words, shows, works = false } of steps) {
    if (words !== undefined) {
      terminal.type(words);
      await terminal.shows(words);
    }
    const begun = performance.now();
    terminal.keys(key);
    await terminal.shows(shows);
    if (works) ms += performance.now() - begun;
  }
  return ms;
}

const CREATE = [
  { key: 'N', shows: 'Select base branch' },
  { key: 'Enter', shows: 'How do you want' },
  { key: 'Enter', shows: 'Choose branch creation strategy' },
  { key: 'Enter', shows: 'Enter new branch name' },
  { key: 'Enter', words: 'a', shows: 'Copy .claude' },
  { key: 'Enter', shows: 'Copy Claude Code session' },
  { key: 'Enter', shows: /1 ❯ a /, works: true },
];
const START = [
  // Not the agent's question: ccmanager does not always paint what was printed before the session is shown.
  { key: '1', shows: new RegExp(`^(?![^]*${MENU})`), works: true },
  { key: 'Enter', words: 'A round', shows: MENU, works: true },
];
const MERGE = [
  { key: 'M', shows: 'Select the source branch' },
  { key: 'Down', shows: '❯ a' },
  { key: 'Enter', shows: 'Select the target branch' },
  { key: 'Enter', shows: 'Select Operation' },
  { key: 'Enter', shows: 'Confirm Merge' },
  { key: 'Enter', shows: 'Delete Source Branch?', works: true },
  { key: 'Enter', shows: MENU, works: true },
];
const DISCARD = [
  { key: 'D', shows: 'Select worktrees to delete' },
  { key: 'Space', shows: '1 worktree selected' },
  { key: 'Enter', shows: 'associated branches' },
  { key: 'Enter', shows: '> Cancel' },
  { key: 'Up', shows: '> Confirm' },
  { key: 'Enter', shows: MENU, works: true },
];

/** What it has of the hour: it shows no diff, and takes back neither a merge nor a deletion. */
export async function measureCcmanager({ rounds, size, note }) {
  const ws = await makeWorkspace();
  const home = ws.repository.folder;
  writeHome(home);
  const terminal = await openTerminal({
    command: [BUN, '--no-env-file', join(PACKAGE, 'dist/cli.js')],
    cwd: ws.root,
    env: { HOME: home, PATH: process.env.PATH, SHELL: '/bin/sh' },
    ...size,
  });
  try {
    await terminal.shows(MENU);
    for (let round = 0; round < rounds; round += 1) {
      const created = await measureSteps(terminal, CREATE);
      // One more key: the name of the branch. The words of the task are not counted.
      note(
        'ccmanager',
        'start',
        CREATE.length + 1 + START.length,
        created + (await measureSteps(terminal, START)),
      );
      note('ccmanager', 'merge', MERGE.length, await measureSteps(terminal, MERGE));
      await measureSteps(terminal, [...CREATE, ...START]);
      note('ccmanager', 'discard', DISCARD.length, await measureSteps(terminal, DISCARD));
    }
  } finally {
    await terminal.close();
    await ws.close();
  }
}
