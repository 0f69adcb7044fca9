import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { act, answer, openDash } from '../support/terminals/dash.ts';
import { withTmux } from '../support/terminals/terminal.ts';
import { until } from '../support/wait.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';

/** Runs `svc --plain` without a terminal, as for a log. svc without a command opens the dashboard. */
async function openLog(
  t: TestContext,
): Promise<{ workspace: TestWorkspace; child: ChildProcess; text(): string }> {
  const workspace = await makeWorkspace();
  t.after(workspace.close);
  await workspace.svc(['up']);
  const child = spawn(process.execPath, [SVC, '--plain'], {
    cwd: workspace.root,
    env: workspace.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  await until(() => text.includes('Connected to test'), 'the first line');
  return { workspace, child, text: () => text };
}

describe('svc dash --plain', () => {
  it('the plain dashboard without a terminal prints events as lines, and ends with SIGTERM', async (t) => {
    const { workspace, child, text } = await openLog(t);
    await until(() => text().includes('Work: Nothing waits for you.'), 'the empty list');
    await workspace.post('for the log \u001b[31mred\u001b[2J\n#agent: no-change');
    await until(() => /needs approval t-1 d-1: .*for the log \\x1b\[31mred/.test(text()), 'the event');
    appendFileSync(join(workspace.root, '.svc', 'notices', 's-7.md'), '**note 3** hello from a worker\n');
    await until(() => text().includes('notice to s-7: note 3 hello from a worker'), 'the notice');
    await workspace.killDaemon();
    await until(() => text().includes('ENGINE GONE'), 'the loss');
    await workspace.svc(['task', 'add', 'while it was gone']);
    await until(() => /task created t-2.*while it was gone/.test(text()), 'what happened meanwhile');
    assert.ok(!text().includes('\u001b'), JSON.stringify(text()));
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  it('the plain dashboard at a terminal has the keys of the screen', withTmux, async (t) => {
    const { workspace, terminal } = await openDash(t, { args: ['dash', '--plain'], rows: 50 });
    await terminal.shows('Keys: ');
    await workspace.post('read me\n#agent: edit plain.txt by keys alone');
    await terminal.shows('Work 1 of 1: id t-1');
    terminal.keys('Enter');
    await terminal.shows('│ read me');
    terminal.type('ay');
    await terminal.shows('keys that arrive in a burst only move');
    await act(terminal, 'a');
    await terminal.shows('Approve d-1 and start scripted on t-1?');
    await answer(terminal, 'y');
    await terminal.shows('d-1 approved: s-1 starts on t-1');
    await terminal.shows(/ready t-1 d-1 s-1/);
    assert.ok(!terminal.screen().includes('╔'));
    terminal.keys('q');
    assert.equal((await terminal.exited()).status, 0);
  });
});
