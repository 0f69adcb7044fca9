import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openTerminal, withTmux } from '../support/terminals/terminal.ts';
import { until } from '../support/wait.ts';
import { makeWorkspace, SVC } from '../support/workspaces/workspace.ts';

describe('the title of a terminal', withTmux, () => {
  it('the title counts pending work while the dashboard is open, if wanted, and is restored for other programs', async (t) => {
    const workspace = await makeWorkspace();
    t.after(workspace.close);
    await workspace.svc(['up']);
    const home = workspace.env.SVC_HOME ?? '';
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'ui.yaml'), 'title: true\n');
    const terminal = await openTerminal({
      command: [
        '/bin/sh',
        '-c',
        `printf '\\033]2;before\\007'; '${process.execPath}' '${SVC}'; read -r line`,
      ],
      cwd: workspace.root,
      env: { ...workspace.env, VISUAL: 'true' },
    });
    t.after(terminal.close);
    const says = (title: string): Promise<unknown> =>
      until(() => terminal.title() === title, `the title ${title}, not ${terminal.title()}`);
    await says('svc test: nothing waits');
    await workspace.post('One order');
    await says('svc test: 1 waits');
    await workspace.post('Another');
    await says('svc test: 2 wait');
    await terminal.shows('Another');
    terminal.keys('q');
    await terminal.shows('the engine keeps running');
    await says('before');
  });

  it('the title is left alone otherwise', async (t) => {
    const workspace = await makeWorkspace();
    t.after(workspace.close);
    await workspace.svc(['up']);
    const terminal = await openTerminal({
      command: ['/bin/sh', '-c', `printf '\\033]2;before\\007'; exec '${process.execPath}' '${SVC}'`],
      cwd: workspace.root,
      env: workspace.env,
    });
    t.after(terminal.close);
    await workspace.post('One order');
    await terminal.shows('One order');
    await until(() => terminal.title() === 'before', 'the title that was there');
  });
});
