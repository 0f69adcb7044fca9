import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openDash } from '../support/terminals/dash.ts';
import { withTmux } from '../support/terminals/terminal.ts';

describe('git state on the screen', withTmux, () => {
  it('the screen asks git again when base or branch move, and merged or deleted work no longer waits', async (t) => {
    const { workspace, terminal } = await openDash(t);
    const { repository } = workspace;
    for (const file of ['README.md', 'other.txt', 'third.txt'])
      await workspace.svc(['task', 'add', '-p', `#agent: edit ${file} from the worker`, '--run', '-f']);
    await terminal.shows(' 3 to review');
    // Moves to the last row first, so that the screen shows when the next key may come: keys that arrive together do
    // not count as a person's.
    terminal.keys('G');
    await terminal.shows('▶t-3');
    terminal.keys('g');
    await terminal.shows('▶t-1');
    const before = await terminal.shows(/trial +no conflicts, tried \d\d:\d\d:\d\d/);
    assert.match(before, /README\.md/);

    const main = repository.git('rev-parse', 'main').trim();
    repository.commit({ 'README.md': 'one\ntwo\nthree\nfrom a person\n' });
    await terminal.shows(/trial +conflicts in README\.md, tried \d\d:\d\d:\d\d/);
    repository.git('reset', '--quiet', '--hard', main);
    await terminal.shows(/trial +no conflicts, tried/);

    // Another promotion moves the base.
    assert.equal((await workspace.svc(['worktree', 'promote', 's-2'])).code, 0);
    await terminal.shows(' 2 to review');
    repository.git('merge', '--quiet', '--no-edit', 'svc/s-1');
    await terminal.shows(/trial +main already contains this work/);
    await terminal.shows(' 1 to review');
    const [, worktree = ''] =
      /^worktree (.*s-3)$/m.exec(repository.git('worktree', 'list', '--porcelain')) ?? [];
    repository.git('worktree', 'remove', '--force', worktree);
    repository.git('branch', '-D', 'svc/s-3');
    await terminal.gone('to review');
    terminal.keys('.');
    await terminal.shows('nothing waits for you');
  });
});
