import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { act, ask, openDash } from '../support/terminals/dash.ts';
import { withTmux } from '../support/terminals/terminal.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';

describe('a review at the keyboard', withTmux, () => {
  it('a person comments on a line, opens it in the editor, enters the worktree, and sends a follow-up', async (t) => {
    const bin = temporaryFolder('svc-bin-');
    t.after(() => rmSync(bin, { recursive: true, force: true }));
    const write = (name: string, text: string): string => {
      const file = join(bin, name);
      writeFileSync(file, `#!/bin/sh\n${text}\n`);
      chmodSync(file, 0o755);
      return file;
    };
    const { workspace, terminal } = await openDash(t, {
      env: {
        SHELL: write('shell', 'echo "shell in $(basename "$PWD")"; read -r line; exit 1'),
        VISUAL: write('nano', 'echo "editor gets $1 $(basename "$2")"; read -r line'),
      },
    });
    await terminal.shows('Nothing waits for you');
    const client = await workspace.connect();
    const body = 'write\n#agent: edit made.txt by the worker';
    const task = await client.call('task.add', { body, agent: 'scripted' });
    await client.call('task.run', { id: task.task_id });
    await terminal.shows(/▶t-1 +ready/);
    await act(terminal, 'Enter');
    await terminal.shows(/\+by the worker/);
    await act(terminal, 'c');
    await terminal.shows('▶+by the worker');
    await act(terminal, 'c');
    await terminal.shows('comment on made.txt:1:');
    terminal.type('Say who');
    await terminal.shows('Say who');
    terminal.keys('Enter');
    await terminal.shows(/┃ comment 1 by .*: Say who/);

    await act(terminal, 'e');
    await terminal.shows('editor gets +1 made.txt');
    terminal.type('qj\n');
    await terminal.shows('you have left the worktree of s-1');
    await terminal.shows('▶+by the worker');
    await act(terminal, '$');
    await terminal.shows('shell in s-1');
    terminal.type('q\n');
    await terminal.shows('you have left the worktree of s-1');

    await ask(terminal, 'F', 'Send this to s-1?');
    await terminal.shows(/made\.txt:1 [\s\S]*> by the worker[\s\S]*Say who/);
    await act(terminal, 'y');
    await terminal.shows('s-2');
    await terminal.shows(/s-2 continues s-1|t-2 s-2/);
  });
});
