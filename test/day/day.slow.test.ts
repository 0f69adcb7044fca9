import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { samples } from '../../engine/index.ts';
import { act, answer, ask, confirm, findCursor, pressUntil } from '../support/terminals/dash.ts';
import { openTerminal, type Terminal, withTmux } from '../support/terminals/terminal.ts';
import { runHere } from '../support/workspaces/command-line.ts';
import { gitEnvironment, makeRepository, type TestRepository } from '../support/workspaces/git.ts';
import { AGENT, SECRET, SVC } from '../support/workspaces/workspace.ts';
import { createHands } from './hands.ts';

// The operator's day: everything that a person with three agents does from clone to evening, in a real terminal, by
// keys alone. The agents are scripted; everything else is real. git is only used to clone, and to check the result at
// the end.

/** A machine with two repositories to clone, an editor, and a shell on a terminal. */
interface Machine {
  terminal: Terminal;
  origins: Record<'shop' | 'site', TestRepository>;
  folderOf(name: 'shop' | 'site'): string;
  /** Types a line in the shell and waits until it has succeeded. */
  runLine(line: string): Promise<void>;
  /** Sends what an automation sends to a workspace's engine. */
  post(name: 'shop' | 'site', prompt: string): Promise<void>;
  /** Returns every line of every file on the main branch of a checkout. */
  logOf(name: 'shop' | 'site'): { files: string };
  /** The text that the editor adds next. */
  editorAdds(text: string): void;
}

async function openMachine(t: TestContext, [columns, rows]: readonly [number, number]): Promise<Machine> {
  const origins = { shop: makeRepository(), site: makeRepository() };
  const home = join(origins.shop.folder, 'person');
  const bin = join(home, 'bin');
  mkdirSync(bin, { recursive: true });
  const addition = join(home, 'addition');
  writeFileSync(addition, '');
  const program = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  program('svc', `exec '${process.execPath}' '${SVC}' "$@"`);
  program('own-editor', `cat '${addition}' >>"$1"`);
  program('agent', `exec '${process.execPath}' '${AGENT}' -- "$1"`);
  const inherited = Object.entries(gitEnvironment()).filter(([name]) => !name.startsWith('SVC_'));
  const env: NodeJS.ProcessEnv = {
    ...Object.fromEntries(inherited),
    HOME: home,
    PATH: `${bin}:${process.env.PATH}`,
    SVC_HOME: join(home, 'svc'),
    SVC_WEBHOOK_SECRET: SECRET,
    VISUAL: 'own-editor',
    PS1: 'person$ ',
    GIT_AUTHOR_NAME: 'Person',
    GIT_AUTHOR_EMAIL: 'person@example.test',
    GIT_COMMITTER_NAME: 'Person',
    GIT_COMMITTER_EMAIL: 'person@example.test',
  };
  const folderOf = (name: 'shop' | 'site'): string => join(home, name);
  const svcIn = (name: 'shop' | 'site', ...args: string[]) =>
    runHere(args, { cwd: folderOf(name), env, input: '' });
  const terminal = await openTerminal({ command: ['/bin/sh'], cwd: home, env, columns, rows });
  t.after(async () => {
    await terminal.close();
    for (const name of ['shop', 'site'] as const)
      await svcIn(name, 'down', '--stop-workers').catch(() => undefined);
    for (const each of Object.values(origins)) each.remove();
  });
  let lines = 0;
  return {
    terminal,
    origins,
    folderOf,
    async runLine(line) {
      // A distinct word for each line: the previous word stays on the screen until the shell has read this line.
      lines += 1;
      terminal.type(`clear; ${line} && echo line-${lines}""-went-well`);
      terminal.keys('Enter');
      await terminal.shows(`line-${lines}-went-well`, line);
    },
    logOf(name) {
      const folder = folderOf(name);
      const { gitIn } = origins[name];
      const paths = gitIn(folder, 'ls-tree', '-r', '--name-only', 'main').split('\n');
      return { files: paths.map((path) => gitIn(folder, 'show', `main:${path}`)).join('\n') };
    },
    editorAdds: (text) => writeFileSync(addition, text),
    async post(name, prompt) {
      const { buildSignedSample } = await samples();
      const asked = await svcIn(name, 'status', '--json');
      assert.equal(asked.code, 0, asked.stderr);
      const status = asked.json<{ receivers: { host: string; port: number }[] }>();
      const { path, method, headers, body } = buildSignedSample({
        ...{ route: 'task', secret: SECRET, now: Date.now(), agent: 'alice', prompt, dispatch: true },
      });
      const [at] = status.receivers;
      const sent = await fetch(`http://${at?.host}:${at?.port}${path}`, { method, headers, body });
      assert.ok(sent.ok, await sent.text());
    },
  };
}

async function setUp({ runLine, origins }: Machine, name: 'shop' | 'site'): Promise<void> {
  await runLine(`cd && git clone -q ${origins[name].root} ${name} && cd ${name} && svc init --yes`);
  for (const agent of ['alice', 'bob', 'carol'])
    await runLine(`svc config set agents.cmds.${agent} "agent {{prompt}}"`);
  await runLine('svc config set agents.default_preset alice && svc config set ui.addr 127.0.0.1:0 && svc up');
}

describe("the operator's day", withTmux, () => {
  for (const size of [
    [140, 40],
    [80, 24],
  ] as const)
    it(`the operator works from clone to evening with keys alone, at ${size.join('x')}`, async (t) => {
      const machine = await openMachine(t, size);
      const { terminal } = machine;
      const hands = createHands(terminal);
      await setUp(machine, 'site');
      await setUp(machine, 'shop');

      // Twelve tasks: five incoming requests, and seven that the person writes for three agents.
      for (const word of ['hazel', 'ivory', 'jade', 'kite', 'lemon'])
        await machine.post('shop', `Request ${word}\n#agent: edit ${word}.txt ${word}`);
      terminal.type('clear; svc');
      terminal.keys('Enter');
      await terminal.shows('Request lemon');
      await terminal.shows(/═ 1 Work/);
      const written: [word: string, prompt: string][] = [
        ['apple', '#agent: edit README.md apple'],
        ['brick', '#agent: edit README.md brick'],
        ['cedar', '#agent: edit README.md cedar'],
        ['delta', '#agent: edit delta.txt by delta'],
        ['ember', '#agent: edit ember.txt ember'],
        ['flint', '#agent: edit flint.txt flint'],
        ['grape', '#agent: edit grape.txt grape'],
      ];
      for (const [index, [word, prompt]] of written.entries())
        await hands.addTask(`Write ${word}`, prompt, index % 3);

      // One question starts six of them; the seventh is for a race.
      await hands.find('Write');
      terminal.keys('*');
      await terminal.shows('7 marked');
      await hands.find('grape');
      await act(terminal, 'Space');
      await terminal.shows('6 marked');
      await hands.release();
      await hands.answerForAll('r', 'y run 6');
      await terminal.shows(/run: 6 done/);

      // One question approves the incoming requests too.
      await hands.find('Request');
      terminal.keys('*');
      await terminal.shows('5 marked');
      await hands.answerForAll('a', 'y approve 5');
      await terminal.shows(/approve: 5 done/);

      // Three agents on one task, compared; one result is taken.
      await hands.find('grape');
      await act(terminal, 'B');
      await terminal.shows('[ ] alice');
      for (const name of ['alice', 'bob', 'carol']) {
        await pressUntil(terminal, 'j', (screen) => screen.includes(`▶ [ ] ${name}`), {
          ...{ what: name, watched: findCursor },
        });
        await act(terminal, 'Space');
        await terminal.shows(`▶ [x] ${name}`);
        terminal.keys('g', ...Array.from({ length: 20 }, () => 'k'));
      }
      await act(terminal, 'Enter');
      await terminal.shows(/Race t-\d+ with alice, bob, carol\?/);
      await answer(terminal, 'y');
      await terminal.shows(/race started: s-\d+, s-\d+, s-\d+/);
      await terminal.shows('0 live', 'the end of every run');
      await hands.find('grape');
      await act(terminal, 'C');
      await terminal.shows('+grape', 'the diff of the first');
      await act(terminal, 'Tab');
      await terminal.shows(/▶2 s-\d+/);
      await confirm(terminal, ['p', 'm'], 'm merge', /is in main; 2 others discarded/);
      await hands.close();

      // Merging one puts two others in conflict: each returns to its worker, which merges the base.
      await hands.promote('apple');
      for (const word of ['brick', 'cedar']) {
        await hands.find(word);
        await hands.openWork();
        await terminal.shows(/conflicts in README\.md/);
        await hands.close();
        machine.editorAdds(
          `\n#agent: no-change\n#agent: run git merge -q main || git checkout -q --theirs README.md; echo ${word} >>README.md; git add README.md; git -c user.name=a -c user.email=a@b commit -qm resolved-${word}\n`,
        );
        await ask(terminal, 'F', 'Merge main into your branch');
        await act(terminal, 'e');
        await terminal.shows('#agent: run');
        await hands.sendFollowUp();
        await hands.promoteSelected();
      }

      // A comment on a line of the diff goes back to the worker, which adds to its branch.
      await hands.find('delta');
      await hands.comment('+by delta', 'Say when');
      await ask(terminal, 'F', 'Send this to s-');
      await terminal.shows('Say when');
      machine.editorAdds('\n#agent: edit delta.txt in the morning\n');
      await act(terminal, 'e');
      await terminal.shows('in the morning');
      await hands.sendFollowUp();
      await hands.promoteSelected();

      // Discarded and restored.
      await hands.find('ember');
      await confirm(terminal, ['X', 'y'], 'and its worktree', /discarded/);
      await hands.find('ember');
      await confirm(terminal, ['U', 'y'], 'back, with its worktree', /is back/);
      await hands.promote('ember');

      // Merged by mistake and undone.
      await hands.promote('flint');
      await hands.find('flint');
      await confirm(terminal, ['U', 'y'], 'Undo the promotion', /is at \w+ again/);
      terminal.keys('q');
      await terminal.shows('the engine keeps running');

      // The other workspace waits too.
      await machine.post('site', 'Request mango\n#agent: edit mango.txt mango');
      terminal.type('clear; svc dash --all');
      terminal.keys('Enter');
      await terminal.shows('2 engines ok');
      await terminal.shows(/═ 1 Work/);
      // Its decision is the most urgent row, which is selected already if it was listed first.
      await pressUntil(terminal, '.', (screen) => /▶site +t-1 /.test(screen), {
        what: 'the decision of site',
      });
      await terminal.shows('│ │ Request mango', 'what waits in the other workspace');
      await confirm(terminal, ['a', 'y'], 'site: Approve d-1 and start alice on t-1?', 'd-1 approved');
      await hands.promote('mango');
      terminal.keys('q');
      await terminal.shows('the engines keep running');

      const shop = machine.logOf('shop');
      for (const word of ['apple', 'brick', 'cedar', 'delta', 'ember', 'grape'])
        assert.match(shop.files, new RegExp(word), `${word} is in main`);
      assert.doesNotMatch(shop.files, /flint|hazel/, 'undone and unmerged work is not in main');
      assert.match(machine.logOf('site').files, /mango/);
      assert.equal(machine.origins.shop.git('rev-list', '--count', 'main'), '1', 'nothing was pushed');
    });
});
