import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeWorkspace } from '../../../support/workspaces/workspace.ts';

test('svc status --line says in a few words what waits, and nothing without an engine', async (t) => {
  const ws = await makeWorkspace();
  t.after(ws.close);
  const readLine = (cwd = ws.root) => ws.svc(['status', '--line'], { cwd });
  for (const { code, stdout, stderr } of [await readLine(), await readLine('/')])
    assert.deepEqual([code, stdout, stderr], [0, '', '']);
  await ws.svc(['up']);
  assert.equal((await readLine()).stdout, 'idle\n');
  await ws.post('Requested');
  await ws.svc(['ask', 'open', 'Which?', '--no-wait']);
  assert.equal((await readLine()).stdout, '1 question · 1 to approve\n');
});
