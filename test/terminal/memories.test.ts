import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { answer, ask, openDash } from '../support/dash.ts';
import { withTmux } from '../support/terminal.ts';

describe('the memory on the screen', withTmux, () => {
  it('is searched as one types, settled, edited and forgotten', async (t) => {
    const { workspace, terminal } = await openDash(t, { columns: 100, rows: 30 });
    const { root } = workspace;
    const add = (title: string, text: string): Promise<unknown> =>
      workspace.svc(['memory', 'add', '--title', title, text]);
    await add('Port of the database', 'It is 5433, since 5432 is taken.');
    await add('Deploy', 'Deploy on Tuesdays only.');
    await add('Style', 'Tabs are two spaces.');
    terminal.keys('M');
    await terminal.shows('Port of the database');
    await terminal.shows('Tabs are two spaces');
    terminal.keys('/');
    terminal.type('tuesday');
    await terminal.gone('Port of the database');
    await terminal.shows('Deploy on Tuesdays only');
    terminal.keys('Enter');
    await ask(terminal, 'd', 'forget');
    await answer(terminal, 'y');
    await terminal.gone('Deploy on Tuesdays only');
    terminal.keys('Escape');
    await terminal.shows('Port of the database');
    const { stdout } = await workspace.svc(['memory', 'recall', 'tuesday']);
    assert.doesNotMatch(stdout, /Tuesdays/);
    writeFileSync(join(root, 'unused.txt'), '');
  });
});
