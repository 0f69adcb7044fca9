import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { answer, ask } from '../support/terminals/dash.ts';
import { openTerminal, type Terminal, withTmux } from '../support/terminals/terminal.ts';
import { until } from '../support/wait.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';

/** Creates two workspaces on one machine, the second one without a running engine, and the dashboard of both. */
async function openAll(
  t: TestContext,
  [columns, rows]: readonly [number, number],
): Promise<{ one: TestWorkspace; other: TestWorkspace; terminal: Terminal }> {
  const one = await makeWorkspace();
  const other = await makeWorkspace({ env: { SVC_HOME: one.env.SVC_HOME ?? '' } });
  t.after(async () => {
    await other.close();
    // Last, because it holds the machine home of both.
    await one.close();
  });
  await one.svc(['up']);
  const terminal = await openTerminal({
    command: [process.execPath, SVC, 'dash', '--all'],
    cwd: one.root,
    env: one.env,
    columns,
    rows,
  });
  t.after(terminal.close);
  return { one, other, terminal };
}

describe('the dashboard of all workspaces in a real terminal', withTmux, () => {
  for (const size of [
    [80, 24],
    [140, 40],
    [200, 50],
  ] as const)
    it(`the dashboard decides in the right workspace, and reports arrivals and departures, at ${size.join('x')}`, async (t) => {
      const { one, other, terminal } = await openAll(t, size);
      await terminal.shows('1 engine ok');
      await one.post('Here\n#agent: edit here.txt');
      await terminal.shows(/▶test +t-1/, 'the decision of the first');

      await other.svc(['up']);
      await terminal.shows('2 engines ok', 'the second, which was started meanwhile');
      await other.post('There\n#agent: edit there.txt');
      await terminal.shows(/test repo\w* +t-1/, 'its decision, under a name of its own');
      terminal.keys('j');
      await terminal.shows('│ │ There', 'its prompt');
      await ask(terminal, 'a', 'Approve d-1 and start scripted on t-1?');
      await answer(terminal, 'y');
      await terminal.shows('d-1 approved: s-1 starts on t-1');
      const client = await other.connect();
      await until(async () => (await client.call('session.list', {}))[0]?.state === 'ended', 'its run');
      const here = await one.connect();
      assert.deepEqual(await here.call('session.list', {}), [], 'nothing was started in the first workspace');

      await other.killDaemon();
      await terminal.shows('1 stopped', 'the end of an engine');
      terminal.keys('W');
      await terminal.shows(/═ Workspaces ═/);
      terminal.keys('Escape');
      await terminal.gone('═ Workspaces ═');
      await terminal.shows(/▶✗ test.* t-1/, 'its last known state');
      terminal.keys('u');
      await terminal.shows('2 engines ok', 'its engine, started by a key');
      terminal.keys('W');
      await terminal.shows(/═ Workspaces ═/);
      terminal.keys('Enter');
      await terminal.shows('(W all)');
      terminal.keys('W');
      await terminal.shows('2 workspaces (W)');
      terminal.keys('q');
      const { status, screen } = await terminal.exited();
      assert.equal(status, 0, screen);
      assert.match(screen, /the engines keep running/);
    });

  it('the dashboard says that there is nothing to show', async (t) => {
    const one = await makeWorkspace();
    t.after(one.close);
    const terminal = await openTerminal({
      command: [process.execPath, SVC, 'dash', '--all'],
      cwd: '/',
      env: one.env,
    });
    t.after(terminal.close);
    const { status, screen } = await terminal.exited();
    assert.equal(status, 4);
    assert.match(screen, /no engine has been started on this machine yet/);
  });
});
