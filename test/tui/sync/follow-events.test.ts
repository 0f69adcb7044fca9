import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listFollowingTasks } from '../../../tui/state/data.ts';
import { followEngineEvents } from '../../../tui/sync/follow-events.ts';
import { type Bench, bench } from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';
import { until } from '../../support/wait.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

describe('the rows that an event changes', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace({ hosted: true });
  });
  after(() => ws.close());

  test('a row of a waiting task follows the task that it waits for', async () => {
    const client = await ws.connect();
    const add = async (title: string, more: object = {}): Promise<string> =>
      (await client.call('task.add', { title, agent: 'scripted', ...more })).task_id;
    const first = await add('Write the parser');
    const second = await add('Use the parser', { after: [first] });
    const { session } = await client.call('task.run', { id: second });
    const dash: Bench = bench(140, 40);
    const failures: unknown[] = [];
    await followEngineEvents({
      client,
      from: null,
      complete: false,
      listFollowing: (ids) => listFollowingTasks(dash.state().data, ids),
      onChange: (change) => void dash.data(change),
      onPoint: () => undefined,
      onFailed: (error) => failures.push(error),
    });
    const readWait = () => dash.state().data.sessions.get(session.session_id)?.waits_for_task;
    assert.equal(readWait(), `${first}, which has not run yet`);
    assert.match(
      screenOf(dash.state()).join('\n'),
      new RegExp(`queued +scripted .*after ${first} · Use the`),
    );
    await client.call('task.cancel', { id: first });
    await until(() => readWait() === `${first}, which was cancelled`);
    await client.call('task.after', { id: second, after: [] });
    await until(() => dash.state().data.sessions.get(session.session_id)?.state === 'ended');
    assert.equal(readWait(), null);
    assert.deepEqual(failures, []);
  });
});
