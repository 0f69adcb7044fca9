import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { report } from '../support/faults.ts';
import { until } from '../support/wait.ts';
import { isRunning, makeWorkspace } from '../support/workspace.ts';

const workspace = await makeWorkspace();
after(workspace.close);

it('an engine whose data folder is deleted promises nothing more, ends its workers and goes', async () => {
  const client = await workspace.connect();
  const first = workspace.daemonPid()!;
  await client.call('task.add', { title: 'works', agent: 'scripted', body: '#agent: hang' });
  await client.call('task.run', { id: 't-1' });
  await until(() => workspace.survivors().some(({ command }) => command.includes('agent.js')), 'the worker');

  rmSync(join(workspace.root, '.svc'), { recursive: true, force: true });
  await assert.rejects(client.call('task.add', { title: 'into nothing' }), {
    code: /storage_failed|engine_unreachable/,
  });
  // The next engine may start before the first has noticed; it must not lose its socket to it.
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
