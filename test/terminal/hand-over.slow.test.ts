import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, it } from 'node:test';
import { act } from '../support/terminals/dash.ts';
import { openTerminal, withTmux } from '../support/terminals/terminal.ts';
import { until } from '../support/wait.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { makeWorkspace, SVC } from '../support/workspaces/workspace.ts';

describe('what leaves the dashboard', withTmux, () => {
  it('Y reaches the clipboard of the terminal, O the browser, and | the pager of ui.yaml', async (t) => {
    const folder = temporaryFolder('svc-hand-over-');
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const writeProgram = (name: string, script: string): string => {
      writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      return join(folder, name);
    };
    writeProgram(
      'xdg-open',
      `printf '%s' "$1" > '${folder}/page.part' && mv '${folder}/page.part' '${folder}/page'`,
    );
    const pager = writeProgram('pager', 'cat; printf "this is my pager"; read -r line < /dev/tty');
    const workspace = await makeWorkspace();
    t.after(workspace.close);
    await workspace.svc(['up']);
    const home = workspace.env.SVC_HOME ?? '';
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'ui.yaml'), `pager: ${pager}\n`);
    const client = await workspace.connect();
    const url = 'https://code.example/acme/shop/issues/12';
    await client.call('task.add', {
      body: `See ${url}\n#agent: edit README.md a new line`,
      agent: 'scripted',
    });
    await client.call('task.run', { id: 't-1' });
    await until(
      async () => (await client.call('task.show', { id: 't-1' })).task.status === 'done',
      'the run',
    );
    const terminal = await openTerminal({
      command: [process.execPath, SVC],
      cwd: workspace.root,
      env: { ...workspace.env, DISPLAY: ':0', PATH: [folder, process.env.PATH].join(delimiter) },
      columns: 140,
      rows: 40,
    });
    t.after(terminal.close);

    await terminal.shows('+a new line');
    await act(terminal, 'Y');
    await terminal.shows('Copy of t-1');
    await act(terminal, 'b');
    await terminal.shows('svc/s-1 was sent to the terminal clipboard');
    assert.equal(terminal.copied(), 'svc/s-1');

    await act(terminal, '|');
    const paged = await terminal.shows('this is my pager');
    assert.match(paged, /^[+]a new line$/m);
    terminal.keys('Enter');
    await terminal.shows(/▶t-1 +ready/);

    await act(terminal, 't');
    await terminal.shows(/See https/);
    await act(terminal, 'O');
    await terminal.shows(`opening ${url}`);
    assert.equal(await until(() => readPage(folder), 'the browser'), url);
  });
});

function readPage(folder: string): string | null {
  try {
    return readFileSync(join(folder, 'page'), 'utf8');
  } catch {
    return null;
  }
}
