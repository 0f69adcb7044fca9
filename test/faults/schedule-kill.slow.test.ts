import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { until } from '../support/wait.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

const DAY = 86_400_000;
const KILLS = 12;

describe('kill -9 of the engine around a due schedule', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
  });
  after(() => ws.close());

  /** Pretends, while no engine runs, that a schedule was last settled a day ago. */
  function makeDue(id: number): void {
    const db = new Database(join(ws.root, '.svc', 'svc.db'));
    db.prepare('UPDATE schedule SET considered_at = ? WHERE id = ?').run(Date.now() - DAY, id);
    db.close();
  }

  test('a missed time creates exactly one task, at whichever moment the engine dies', async () => {
    for (let round = 0; round < KILLS; round += 1) {
      const { id } = await (await ws.connect()).call('schedule.add', {
        ...{ every: '@hourly', tz: 'UTC', title: 'Tidy up' },
      });
      await ws.killDaemon();
      makeDue(id);
      const starting = ws.connect().catch(() => null);
      await until(() => ws.daemonPid(), 'the engine to start');
      await delay((round * 40) % 320);
      await ws.killDaemon();
      await starting;
      const client = await ws.connect();
      const read = async () => (await client.call('schedule.list', {})).find((each) => each.id === id);
      const last = await until(async () => (await read())?.last_task_id, 'the missed task');
      // A write is committed after those before it.
      await client.call('schedule.remove', { id });
      const { tasks } = await client.call('task.list', { limit: 100 });
      const own = tasks.filter(({ source_ref: ref }) => ref === `schedule ${id}`);
      assert.deepEqual(
        own.map(({ task_id, waits }) => [task_id, waits]),
        [[last, true]],
        `round ${round}`,
      );
    }
  });
});
