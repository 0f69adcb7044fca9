import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openHere } from '../../support/agents/strict.ts';
import { until } from '../../support/wait.ts';
import { makeWorkspace } from '../../support/workspaces/workspace.ts';

test('a running worker is listed with its last line and its commits, and an ended one with its counts', async (t) => {
  const ws = await makeWorkspace();
  t.after(ws.close);
  const { here } = await openHere(ws);
  t.after(here.end);
  const { task_id: id } = await here.call('task.add', {
    body: '#agent: run echo one > new.txt && git add new.txt && git commit -qm early && echo half way\n#agent: wait-for go\n#agent: no-change',
    agent: 'scripted',
  });
  const { session: queued } = await here.call('task.run', { id });
  const ids = [queued.session_id];
  const row = async () => (await here.call('session.list', { ids }))[0] ?? assert.fail('no session');
  const told = await until(async () => {
    const { committed, last_line: line } = await row();
    return committed === null || committed.files === 0 || line === null ? null : { committed, line };
  }, 'what it has committed');
  assert.deepEqual(told.committed, { files: 1, insertions: 1, deletions: 0 });
  assert.notEqual(told.line.trim(), '');
  await here.call('worker.kill', { session: ids[0] ?? '' });
  const ended = await until(async () => {
    const now = await row();
    return now.state === 'ended' ? now : null;
  }, 'its end');
  assert.deepEqual([ended.last_line, ended.committed, ended.files], [null, null, 1]);
});
