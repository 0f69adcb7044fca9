import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { answer, ask, openDash } from '../support/terminals/dash.ts';
import { withTmux } from '../support/terminals/terminal.ts';

/** An editor that replaces some words by others, as a person does. */
const EDITOR = `#!/bin/sh\nsed -i 's/two spaces/four spaces/' "$1"\n`;

describe('the memory on the screen', withTmux, () => {
  it('the memory is searched while typing, kept where it contradicts, edited and forgotten', async (t) => {
    const { workspace, terminal } = await openDash(t, {
      columns: 110,
      rows: 36,
      env: { EDITOR: './editor.sh', VISUAL: '' },
    });
    writeFileSync(join(workspace.root, 'editor.sh'), EDITOR, { mode: 0o755 });
    const recall = async (query: string): Promise<string> =>
      (await workspace.svc(['memory', 'recall', query])).stdout;
    /** Keys that arrive together do not count as a person's, so this waits for the line first. */
    async function search(words: string): Promise<void> {
      terminal.keys('/');
      await terminal.shows('Enter keep');
      terminal.keys('C-u');
      terminal.type(words);
      await terminal.shows(words);
    }
    async function keep(): Promise<void> {
      terminal.keys('Enter');
      await terminal.gone('Enter keep');
    }
    for (const [title, text] of [
      ['Port of the database', 'It is 5433, since 5432 is taken.'],
      ['Port of the database', 'It is 6000 on the server.'],
      ['Deploy', 'Only on Tuesdays.'],
      ['Style', 'Tabs are two spaces.'],
    ] as const)
      await workspace.svc(['memory', 'add', '--title', title, text]);
    terminal.keys('M');
    await terminal.shows('1 conflict');

    await search('tuesday');
    await terminal.shows('1 of 4');
    await keep();
    await ask(terminal, 'x', 'Forget m-');
    await answer(terminal, 'y');
    await terminal.shows('is forgotten');
    assert.doesNotMatch(await recall('tuesday'), /Only on Tuesdays/);

    // The two are shown side by side, and the selected one supersedes the other.
    await search('type:fact port');
    await terminal.shows('same title, different text');
    await keep();
    await ask(terminal, 'K', 'It supersedes m-');
    await answer(terminal, 'y');
    await terminal.gone('1 conflict');
    assert.equal((await recall('database port')).match(/Port of the database/g)?.length, 1);

    // Opens the person's own editor.
    await search('type:fact tabs');
    await terminal.shows('Tabs are two spaces');
    await keep();
    await ask(terminal, 'e', 'Tabs are four spaces');
    assert.match(await recall('tabs'), /four spaces/);
    assert.doesNotMatch(await recall('tabs'), /two spaces/);
  });
});
