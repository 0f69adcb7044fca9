import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openTerminal, withTmux } from '../support/terminals/terminal.ts';
import { until } from '../support/wait.ts';
import { makeWorkspace, SVC } from '../support/workspaces/workspace.ts';

describe('the mouse in the dashboard', withTmux, () => {
  it('a click selects a row if ui.yaml says so, and a second one opens it', async (t) => {
    const workspace = await makeWorkspace();
    t.after(workspace.close);
    await workspace.svc(['up']);
    await workspace.post('One order');
    await workspace.post('Another');
    const home = workspace.env.SVC_HOME ?? '';
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'ui.yaml'), 'mouse: true\n');
    const terminal = await openTerminal({
      command: [process.execPath, SVC],
      cwd: workspace.root,
      env: workspace.env,
    });
    t.after(terminal.close);
    const click = async (text: RegExp): Promise<void> => {
      const screen = await terminal.shows(text);
      const row = screen.split('\n').findIndex((line) => text.test(line));
      terminal.type(`\u001b[<0;10;${row + 1}M`);
    };
    await terminal.shows(/▶t-[12] /);
    const other = /▶t-1 /.test(terminal.screen()) ? 't-2' : 't-1';
    await click(new RegExp(`║ +${other} `));
    await terminal.shows(new RegExp(`▶${other} `));
    await click(new RegExp(`▶${other} `));
    await until(() => !/ 1 Work ═/.test(terminal.screen()), 'the open text');
    terminal.type('\u001b[<0;15;2M');
    await terminal.shows(/═ 2 Bus ═/);
    terminal.keys('q');
    await terminal.shows('the engine keeps running');
  });
});
