import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

interface Row {
  workspace: string;
  root: string;
  state: string;
  problem: string | null;
  status: { decisions_pending: number; asks_open: number } | null;
}

/** See test/faults for engines that hang, die or move. */
describe('svc status --all', () => {
  let one: TestWorkspace;
  let other: TestWorkspace;
  before(async () => {
    one = await makeWorkspace({ hosted: true });
    other = await makeWorkspace({ hosted: true, env: { SVC_HOME: one.env.SVC_HOME ?? '' } });
  });
  after(async () => {
    await other.close();
    await one.close();
  });
  const runAll = (...words: string[]) => one.svc(['status', '--all', ...words], { cwd: '/' });

  test('svc status --all prints one line per workspace, from any folder', async () => {
    await one.svc(['task', 'list']);
    assert.deepEqual(
      ((await runAll('--json')).json() as Row[]).map(({ root, state }) => [root, state]),
      [[one.root, 'running']],
    );
    await other.svc(['task', 'add', 'Say hello', '--agent', 'scripted']);
    const rows = (await runAll('--json')).json() as Row[];
    assert.deepEqual(rows.map(({ root }) => root).sort(), [one.root, other.root].sort());
    for (const { workspace, problem, status } of rows)
      assert.deepEqual(
        [workspace, problem, status?.decisions_pending, status?.asks_open],
        ['test', null, 0, 0],
      );
    const { code, stdout, stderr } = await runAll();
    assert.equal(code, 0);
    assert.ok(stdout.includes(`test\trunning\t0\t0\t0\t0\t${other.root}`), stdout);
    assert.equal(stderr, '');
  });

  test('svc status --all reports missing workspaces and invalid entries', async () => {
    const broken = join(one.env.SVC_HOME ?? '', 'workspaces', `${'0'.repeat(32)}.json`);
    writeFileSync(broken, '{');
    renameSync(join(other.root, 'svc.yaml'), join(other.root, 'svc.yaml.away'));
    try {
      const { code, stdout, stderr } = await runAll();
      assert.equal(code, 0);
      assert.match(stdout, /^test\tgone\t-\t-\t-\t-\t/m);
      assert.match(
        stderr,
        /is gone: .*svc\.yaml no longer exists; it is removed from the list when an engine starts/,
      );
      assert.ok(stderr.includes(`note: ${broken} was left out: it is not what svc wrote`), stderr);
    } finally {
      renameSync(join(other.root, 'svc.yaml.away'), join(other.root, 'svc.yaml'));
    }
  });
});
