import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { act, ask, openDash } from '../support/terminals/dash.ts';
import { withTmux } from '../support/terminals/terminal.ts';
import { until } from '../support/wait.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';

const ACP_AGENT = fileURLToPath(new URL('../../fixtures/acp/agent.js', import.meta.url));

describe('steering at the keyboard', withTmux, () => {
  it('F and y send a conflict to its worker; the promotion then has both sides', async (t) => {
    const bin = temporaryFolder('svc-bin-');
    t.after(() => rmSync(bin, { recursive: true, force: true }));
    const [resolve, editor] = [join(bin, 'resolve'), join(bin, 'editor')];
    writeFileSync(
      editor,
      `#!/bin/sh\nprintf '#agent: no-change\\n#agent: run sh %s\\n' '${resolve}' >>"$1"\n`,
      { mode: 0o755 },
    );
    const { workspace, terminal } = await openDash(t, {
      columns: 120,
      rows: 40,
      env: { VISUAL: editor },
    });
    await terminal.shows('Nothing waits for you');
    const client = await workspace.connect();
    writeFileSync(
      resolve,
      `git merge main || true
printf 'one\\ntwo\\nthree\\nfrom a person\\nfrom the worker\\n' >README.md
git add README.md && git -c user.name=a -c user.email=a@b commit -qm resolved
`,
    );
    const task = await client.call('task.add', {
      body: 'write\n#agent: edit README.md from the worker',
      agent: 'scripted',
    });
    await client.call('task.run', { id: task.task_id });
    await terminal.shows(/▶t-1 +ready/);
    workspace.repository.commit({ 'README.md': 'one\ntwo\nthree\nfrom a person\n' });
    await terminal.shows('conflicts in README.md');
    await ask(terminal, 'F', 'Merge main into your branch svc/s-1');
    // The editor adds lines that the scripted agent executes.
    await act(terminal, 'e');
    await terminal.shows('#agent: run sh');
    await act(terminal, 'y');
    await terminal.shows(/t-2 s-2 work .*ready/);
    const { promotable } = await client.call('worktree.trial', { session: 's-2' });
    if (!promotable) throw new Error('it still has conflicts');
  });

  it('m tells when a running worker reads a message, and B and y interrupt it for that', async (t) => {
    const { workspace, terminal } = await openDash(t, {
      columns: 120,
      rows: 40,
    });
    await terminal.shows('Nothing waits for you');
    const client = await workspace.connect();
    for (const [key, value] of [
      ['agents.acp.talks', JSON.stringify(`'${process.execPath}' '${ACP_AGENT}'`)],
      ['agents.transport.talks', 'acp'],
    ] as const) {
      const set = await workspace.svc(['config', 'set', key, value]);
      if (set.code !== 0) throw new Error(set.stderr);
    }
    const task = await client.call('task.add', { body: 'go\n#acp: say up\n#acp: hang', agent: 'talks' });
    await client.call('task.run', { id: task.task_id });
    await terminal.shows(/▶t-1 +running/);
    await until(() => existsSync(join(workspace.root, '.svc', 'agents', 's-1', 'log')));
    await terminal.shows('up');
    await act(terminal, 'm');
    await terminal.shows('s-1 reads it when its turn ends');
    terminal.type('stop that');
    await terminal.shows('stop that▏');
    terminal.keys('Enter');
    await terminal.shows('the note is sent: s-1 reads it when its turn ends');
    await terminal.shows(/message +1 queued [\d:]+, read at its next turn: stop that/);
    await act(terminal, 'B');
    await terminal.shows('Interrupt s-1, so that it reads');
    await act(terminal, 'y');
    await terminal.shows(/▶t-1 +done/);
    await terminal.shows('Going on.');
  });
});
