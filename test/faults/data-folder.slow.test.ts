import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { report } from '../support/processes/faults.ts';
import { until } from '../support/wait.ts';
import { isRunning, makeWorkspace } from '../support/workspaces/workspace.ts';

it('an engine whose data folder is deleted creates nothing in it again, for any call', async (t) => {
  const workspace = await makeWorkspace();
  t.after(workspace.close);
  const data = join(workspace.root, '.svc');
  const client = await workspace.connect();
  const pid = workspace.daemonPid()!;
  const { body } = await workspace.post('what git is asked about');
  await workspace.deleteData();
  // The dashboard does the same to draw pending decisions: both inspect the repository and cache the result.
  const asked = await Promise.allSettled([
    client.call('decision.show', { id: body.decision_id }),
    client.call('worktree.status', {}),
    client.call('decision.approve', { id: body.decision_id }),
  ]);
  await until(() => !isRunning(pid), 'the end of the engine');
  assert.equal(existsSync(data), false, JSON.stringify(asked));
  const added = await workspace.svc(['task', 'add', 'after it', '--json']);
  assert.equal(added.code, 0, added.stderr);
});

const workspace = await makeWorkspace();
after(workspace.close);

it('an engine whose data folder is deleted accepts nothing more, ends its workers and exits', async () => {
  const client = await workspace.connect();
  const first = workspace.daemonPid()!;
  await client.call('task.add', { title: 'works', agent: 'scripted', body: '#agent: hang' });
  await client.call('task.run', { id: 't-1' });
  await until(() => workspace.survivors().some(({ command }) => command.includes('agent.js')), 'the worker');

  await workspace.deleteData();
  await assert.rejects(client.call('task.add', { title: 'into nothing' }), {
    code: /storage_failed|engine_unreachable/,
  });
  // The next engine may start before the first one notices, and must keep its socket.
  const added = await workspace.svc(['task', 'add', 'after it', '--json']);
  assert.equal(added.code, 0, added.stderr);
  await until(() => !isRunning(first), 'the end of the first engine');
  assert.notEqual(workspace.daemonPid(), first);
  const listed = await workspace.svc(['task', 'list', '--json']);
  assert.deepEqual(
    listed.json<{ title: string }[]>().map((each) => each.title),
    ['after it'],
  );
  assert.deepEqual(
    workspace.survivors().filter(({ command }) => command.includes('agent.js')),
    [],
  );
  report(
    'the data folder deleted under a running engine',
    'a write was refused, the worker ended, a new engine took over',
  );
});
