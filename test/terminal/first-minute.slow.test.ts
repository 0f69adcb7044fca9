import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { makeNewcomer } from '../support/terminals/newcomer.ts';
import { withTmux } from '../support/terminals/terminal.ts';
import { runGit } from '../support/workspaces/git.ts';

const INTRODUCTION = 'svc: a local workshop for coding agents';
const QUESTION = 'No workspace here yet. Create one? [Y/n]';

describe('svc alone in a real terminal', withTmux, () => {
  it('an empty folder shows the introduction and nothing else', async (t) => {
    const { open, empty } = makeNewcomer(t);
    const { screen, status } = await (await open('svc', { cwd: empty })).exited();
    assert.equal(status, 0);
    assert.match(screen, new RegExp(INTRODUCTION));
    assert.doesNotMatch(screen, /error|No workspace|╔/);
    assert.deepEqual(readdirSync(empty), []);
  });

  it('a git repository becomes a workspace, with the form of a first task', async (t) => {
    const { open, repository } = makeNewcomer(t);
    const terminal = await open('svc', { cwd: repository });
    await terminal.shows(QUESTION);
    terminal.keys('Enter');
    await terminal.shows('New task');
    assert.ok(existsSync(join(repository, 'svc.yaml')));
    terminal.keys('Escape');
    await terminal.shows('Nothing waits for you');
    terminal.keys('q');
    const { screen, status } = await terminal.exited();
    assert.equal(status, 0);
    assert.match(screen, /agents found: claude[\s\S]*the engine keeps running/);
  });

  it('a subfolder of a repository names the folder that becomes the workspace', async (t) => {
    const { open, repository } = makeNewcomer(t);
    const below = join(repository, 'lib');
    mkdirSync(below);
    const terminal = await open('svc', { cwd: below });
    await terminal.shows((screen) =>
      screen.replaceAll('\n', '').includes(`Create one in ${repository}? [Y/n]`),
    );
    terminal.keys('n', 'Enter');
    assert.equal((await terminal.exited()).status, 0);
    assert.ok(!existsSync(join(repository, 'svc.yaml')));
  });

  for (const key of ['C-c', 'C-d'])
    it(`${key} answers the question with no`, async (t) => {
      const { open, repository } = makeNewcomer(t);
      const terminal = await open('svc', { cwd: repository });
      await terminal.shows(QUESTION);
      terminal.keys(key);
      await terminal.exited();
      assert.ok(!existsSync(join(repository, 'svc.yaml')));
    });

  it('a repository of a person without an agent ends with the way to one', async (t) => {
    const { open, repository } = makeNewcomer(t, { agent: false });
    const terminal = await open('svc', { cwd: repository });
    await terminal.shows(QUESTION);
    terminal.keys('Enter');
    const { screen, status } = await terminal.exited();
    assert.equal(status, 0);
    assert.match(screen, /no agent was found[\s\S]*npm install -g @anthropic-ai\/claude-code/);
    assert.doesNotMatch(screen, /╔/);
  });

  it('svc init names the way to a first commit where there is none', async (t) => {
    const { open, empty } = makeNewcomer(t);
    const none = await (await open('svc init', { cwd: empty })).exited();
    assert.match(none.screen, /next:\n {2}git init && git commit --allow-empty/);
    const fresh = join(empty, 'fresh');
    mkdirSync(fresh);
    const unborn = await (await open('git init -q && svc init', { cwd: fresh })).exited();
    assert.match(unborn.screen, /next:\n {2}git commit --allow-empty -m "first commit"/);
  });

  it('a workspace opens its dashboard', async (t) => {
    const { open, repository } = makeNewcomer(t);
    const terminal = await open('svc init >/dev/null && svc', { cwd: repository });
    const screen = await terminal.shows('Nothing waits for you');
    assert.ok(!screen.includes(INTRODUCTION));
    terminal.keys('q');
    assert.equal((await terminal.exited()).status, 0);
  });

  it('a pipe gets the introduction, and no question', async (t) => {
    const { open, repository } = makeNewcomer(t);
    const { screen, status } = await (await open('svc | cat', { cwd: repository })).exited();
    assert.equal(status, 0);
    assert.match(screen, new RegExp(INTRODUCTION));
    assert.doesNotMatch(screen, /No workspace|error/);
  });

  it('a clone becomes merged work of the newcomer’s own agent in five commands', async (t) => {
    const { open, empty, repository } = makeNewcomer(t);
    const commands = [
      `git clone -q ${repository} mine`,
      'cd mine',
      'svc init',
      'svc run "#agent: edit README.md Open daily." -f',
      'svc merge t-1',
    ];
    const mine = join(empty, 'mine');
    const terminal = await open(commands.join(' && '), { cwd: empty });
    const { screen, status } = await terminal.exited();
    assert.equal(status, 0, screen);
    assert.match(screen, /svc\/s-1 into main/);
    assert.equal(runGit(mine, 'show', 'main:README.md'), '# A shop\nOpen daily.', screen);
    assert.equal((await (await open('svc down', { cwd: mine })).exited()).status, 0);
  });

  it('sixteen first guesses work, or name a command', async (t) => {
    const { open, repository } = makeNewcomer(t);
    const guesses =
      'run new ls list ps logs log diff merge approve start stop version dashboard setup help work';
    const script = `svc init >init; svc up >up; for each in ${guesses}; do echo "== $each"; svc $each </dev/null 2>&1 | grep -v '^error' | head -3; done`;
    const terminal = await open(script, { cwd: repository, rows: 120 });
    const { screen } = await terminal.exited();
    for (const each of guesses.split(' '))
      assert.match(screen, new RegExp(`== ${each}\n.*(?:svc|no tasks|\\d+\\.\\d+\\.\\d+)`), each);
  });

  it('a dumb terminal gets the question, and lines in place of the screen', async (t) => {
    const { open, repository } = makeNewcomer(t);
    const terminal = await open('svc', { cwd: repository, env: { TERM: 'dumb' } });
    await terminal.shows(QUESTION);
    terminal.type('y');
    terminal.keys('Enter');
    const screen = await terminal.shows('Connected to shop');
    assert.doesNotMatch(screen, /╔|\[\?/);
    terminal.keys('q');
    assert.equal((await terminal.exited()).status, 0);
  });

  it('svc dash outside a workspace draws nothing before its error', async (t) => {
    const { open, empty } = makeNewcomer(t);
    const { screen, status } = await (await open('svc dash', { cwd: empty })).exited();
    assert.notEqual(status, 0);
    assert.match(screen, /^error: no svc\.yaml in /);
  });
});
