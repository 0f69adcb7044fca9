// Measures what docs/comparison.md compares: `node .ci/hour.js` after a build presses each key and types each command in a real
// terminal, waits for the effect, and writes the table. The same scripted program is the agent on all sides.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SVC } from '../dist/cli/self.js';
import { answer } from '../dist/test/support/dash.js';
import { openTerminal } from '../dist/test/support/terminal.js';
import { until } from '../dist/test/support/wait.js';
import { AGENT, makeWorkspace } from '../dist/test/support/workspace.js';
import { describeCcmanager, hasCcmanager, measureCcmanager } from './hour-ccmanager.js';

const PAGE = fileURLToPath(new URL('../docs/comparison.md', import.meta.url));
const ROUNDS = 5;
const SIZE = { columns: 140, rows: 40 };

const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
/** Keys and seconds of each action, by who and what. */
const measured = new Map();
function note(who, action, keys, ms) {
  const known = measured.get(`${who} ${action}`) ?? { keys, times: [] };
  known.times.push(ms);
  measured.set(`${who} ${action}`, known);
}

async function timed(work) {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

const ACTIONS = {
  start: 'start an agent on a task, beside the words of the task',
  approve: 'approve what a program asked for',
  many: 'approve five of them',
  read: 'read what an agent has changed',
  merge: 'merge it, and remove worktree and branch',
  undo: 'take the merge back',
  discard: 'throw the work away instead',
  restore: 'bring that back',
};

async function measureDashboard() {
  const ws = await makeWorkspace();
  await ws.svc(['up']);
  const own = Object.entries(ws.env).filter(([name]) => name.startsWith('SVC_'));
  const terminal = await openTerminal({
    command: [process.execPath, SVC],
    cwd: ws.root,
    env: Object.fromEntries(own),
    ...SIZE,
  });
  /** A question and its answer; the time is that of the answer up to its effect. */
  async function decide(action, [first, second], effect, before = 0, question = 'Esc leave') {
    // Pressed again where the dashboard says why not yet, such as until it has heard of the step before.
    await until(async () => {
      terminal.keys(first);
      await delay(500);
      return terminal.screen().includes(question);
    }, `the question of ${action}`);
    note(
      'svc',
      action,
      before + 2,
      await timed(async () => {
        await answer(terminal, second);
        await terminal.shows(effect);
      }),
    );
  }
  try {
    await terminal.shows('engine ok');
    terminal.keys('1');
    await terminal.shows('═ 1 Tasks');
    terminal.keys('n');
    await terminal.shows('New task');
    terminal.keys('Tab');
    await terminal.shows('▶ project');
    terminal.keys('Tab');
    await terminal.shows('▶ title');
    terminal.type('A task');
    await terminal.shows('title    A task');
    terminal.keys('Enter');
    await terminal.shows(/created/);
    await decide('start', ['r', 'y'], 's-1 ', 4);

    await ws.post('Asked for');
    await terminal.shows('Asked for');
    terminal.keys('.');
    await terminal.shows('│ │ Asked for');
    await decide('approve', ['a', 'y'], 's-2 starts', 1);
    for (let count = 0; count < 5; count += 1) await ws.post(`One of five, ${count}`);
    await terminal.shows(/of 5,/);
    terminal.keys('2');
    await terminal.shows('═ 2 Decisions');
    await delay(100);
    terminal.keys('*');
    await terminal.shows(/5 marked/);
    await decide('many', ['a', 'y'], /approve: 5 done/, 2, 'y approve 5');

    await until(async () => (await ws.svc(['worktree', 'list', '--json'])).json().length >= 7, 'the ends');
    terminal.keys('4');
    await terminal.shows('═ 4 Workers');
    await terminal.shows('no conflicts');
    note(
      'svc',
      'read',
      2,
      await timed(async () => {
        terminal.keys('Enter');
        await terminal.shows(/╔═ s-\d+ work/);
      }),
    );
    terminal.keys('Escape');
    await terminal.shows('═ 4 Workers');
    await decide('merge', ['p', 'm'], 'nothing was pushed');
    await decide('undo', ['U', 'y'], / again; svc/);
    await decide('discard', ['X', 'y'], /discarded/);
    await decide('restore', ['U', 'y'], /restored|is back|brought back|waits for review/);
  } finally {
    await terminal.close();
    await ws.close();
  }
}

/** The same by hand: git in a shell, and tig for reading. Keys are those of the shortest command, without the words of the task. */
async function measureShell() {
  const ws = await makeWorkspace();
  const agent = join(ws.repository.folder, 'agent');
  writeFileSync(agent, `#!/bin/sh\nexec '${process.execPath}' '${AGENT}' -- "$@"\n`, { mode: 0o755 });
  writeFileSync(join(ws.repository.folder, '.tigrc'), '');
  const git = Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((who) => [
      [`GIT_${who}_NAME`, 'Ada'],
      [`GIT_${who}_EMAIL`, 'ada@example.test'],
    ]),
  );
  const terminal = await openTerminal({
    command: ['bash', '--norc', '--noprofile'],
    cwd: ws.root,
    env: {
      ...git,
      HOME: ws.repository.folder,
      PATH: `${ws.repository.folder}:${process.env.PATH}`,
      PS1: '> ',
    },
    ...SIZE,
  });
  let count = 0;
  /** Types a line; its time is that from Enter to its end. */
  async function line(who, action, text, words = 0) {
    count += 1;
    terminal.type('clear');
    terminal.keys('Enter');
    await terminal.shows(/^> $|^>\n/);
    terminal.type(`${text}; echo end-$((${count}))`);
    note(
      who,
      action,
      text.length - words + 1,
      await timed(async () => {
        terminal.keys('Enter');
        await terminal.shows(`\nend-${count}`);
      }),
    );
  }
  try {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const words = `'Round ${round}'`;
      await line('shell', 'start', `git worktree add ../a && (cd ../a && agent ${words})`, words.length);
      await line('shell', 'read', 'git --no-pager diff main...a');
      terminal.type('clear; tig main..a');
      terminal.keys('Enter');
      await terminal.shows('[main]');
      note(
        'tig',
        'read',
        'tig main..a'.length + 2,
        await timed(async () => {
          terminal.keys('Enter');
          await terminal.shows('diff --git');
        }),
      );
      terminal.keys('Q');
      await terminal.gone('diff --git');
      const merge = 'git merge -q --no-ff --no-edit a && git worktree remove ../a && git branch -d a';
      await line('shell', 'merge', merge);
      await line('shell', 'undo', 'git reset --hard HEAD~');
      await line('shell', 'start again', `git worktree add ../a && (cd ../a && agent ${words})`);
      await line('shell', 'discard', 'git worktree remove --force ../a && git branch -D a');
      await line('shell', 'restore', 'git reflog | head -3; git worktree add -b a ../a ORIG_HEAD');
      await line('shell', 'away', 'git worktree remove --force ../a; git branch -D a');
    }
  } finally {
    await terminal.close();
    await ws.close();
  }
}

const versionOf = (program, ...words) =>
  execFileSync(program, words, { encoding: 'utf8' }).trim().split('\n')[0];

function cell(who, action) {
  const found = measured.get(`${who} ${action}`);
  if (found === undefined) return '';
  return `${found.keys} keys, ${(median(found.times) / 1000).toFixed(2)} s`;
}

for (let round = 0; round < ROUNDS; round += 1) await measureDashboard();
await measureShell();
if (hasCcmanager) await measureCcmanager({ rounds: ROUNDS, size: SIZE, note });
else
  console.error(
    'not compared with ccmanager, which is missing: .ci/hour-ccmanager.js says how to install it',
  );
const rows = Object.entries(ACTIONS).map(([action, what]) =>
  ['', what, ...['svc', 'shell', 'tig', 'ccmanager'].map((who) => cell(who, action) || '–'), '']
    .join(' | ')
    .trim(),
);
const table = [
  '| what a person does | svc | a shell and git | tig | ccmanager |',
  '| --- | --- | --- | --- | --- |',
  ...rows,
  '',
  `Medians of ${ROUNDS} rounds, ${versionOf('git', '--version')}, ${versionOf('tig', '--version')}${hasCcmanager ? `, ${describeCcmanager()}` : ''}.`,
].join('\n');
const MARKS = ['<!-- measured -->', '<!-- /measured -->'];
if (existsSync(PAGE)) {
  const [before, rest = ''] = readFileSync(PAGE, 'utf8').split(MARKS[0]);
  const [, after = ''] = rest.split(MARKS[1]);
  writeFileSync(PAGE, `${before}${MARKS[0]}\n\n${table}\n\n${MARKS[1]}${after}`);
}
console.log(table);
