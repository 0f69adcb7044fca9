import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ListedTask, WireValue } from '../../../../engine/index.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('svc task archive', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace({ hosted: true });
  });
  after(() => ws.close());

  const add = async (...more: string[]): Promise<string> =>
    (await ws.svc(['task', 'add', 'an order', ...more, '--json'])).json<{ task_id: string }>().task_id;
  const end = async (): Promise<string> => {
    const id = await add();
    assert.equal((await ws.svc(['task', 'done', id])).code, 0);
    return id;
  };
  const list = async (...more: string[]): Promise<string[]> =>
    (await ws.svc(['task', 'list', ...more, '--json']))
      .json<WireValue<ListedTask>[]>()
      .map((task) => task.task_id);

  test('the exit codes for an unknown task and for one that cannot be archived are the usual ones', async () => {
    const unknown = await ws.svc(['task', 'archive', 't-999', '--json']);
    assert.equal(unknown.code, 4);
    const { refused } = unknown.json<{ refused: { id: string; code: string }[] }>();
    assert.deepEqual(
      refused.map(({ id, code }) => [id, code]),
      [['t-999', 'not_found']],
    );
    assert.match((await ws.svc(['task', 'archive', 't-999'])).stderr, /t-999 is not archived: no task t-999/);
  });

  test('named tasks are archived and restored; lists and counts leave them out', async () => {
    const [open, one, other] = [await add(), await end(), await end()];
    const archived = await ws.svc(['task', 'archive', one, open]);
    assert.deepEqual([archived.code, archived.stdout.trim()], [0, `archived ${one}, ${open}`]);
    assert.deepEqual([await list(), await list('--archived')], [[other], [one, open]]);
    assert.deepEqual(await list('--archived', '--status', 'done'), [one]);
    assert.match((await ws.svc(['task', 'show', one])).stdout, /^archived +\d{4}-/m);
    assert.match((await ws.svc(['task', 'list', '--limit', '1'])).stderr, /^$/);
    assert.equal((await ws.svc(['task', 'archive', one])).code, 0, 'again');
    assert.equal((await ws.svc(['task', 'unarchive', one, open])).code, 0);
    assert.deepEqual([await list(), await list('--archived')], [[other, one, open], []]);
    const { timeline } = (await ws.svc(['task', 'show', one, '--json'])).json<{
      timeline: { kind: string }[];
    }>();
    const kinds = timeline.map(({ kind }) => kind).filter((kind) => /archived/.test(kind));
    assert.deepEqual(kinds, ['task_archived', 'task_unarchived']);
  });

  test('tasks that run or wait are refused with the reason; the others are archived', async () => {
    const ended = await end();
    const { task_id: hanging } = (
      await ws.svc(['task', 'add', '-p', '#agent: hang', '--run', '--json'])
    ).json<{ task: { task_id: string } }>().task;
    const waits = (await ws.post('an order')).body.task_id;
    const { code, stdout, stderr } = await ws.svc(['task', 'archive', ended, hanging, waits, 't-999']);
    assert.deepEqual([code, stdout.trim()], [5, `archived ${ended}`]);
    assert.match(stderr, new RegExp(`${hanging} is not archived: it is being worked on`));
    assert.match(stderr, new RegExp(`${waits} is not archived: it waits for a decision`));
    assert.match(stderr, /t-999 is not archived: no task t-999/);
    assert.equal((await ws.svc(['task', 'archive', 't-999'])).code, 4);
    await ws.svc(['task', 'cancel', hanging]);
  });

  test('--all archives every ended task, or those older than an age', async () => {
    const ids = [await end(), await end()];
    const none = await ws.svc(['task', 'archive', '--ended', '--older', '1d']);
    assert.deepEqual([none.code, none.stderr.trim()], [0, 'nothing to archive']);
    assert.equal((await ws.svc(['task', 'archive', '--ended'])).code, 0);
    assert.deepEqual(
      (await list()).filter((id) => ids.includes(id)),
      [],
    );
    for (const wrong of [[], ['t-1', '--ended'], ['t-1', '--older', '1d'], ['--ended', '--older', 'soon']])
      assert.equal((await ws.svc(['task', 'archive', ...wrong])).code, 2, wrong.join(' '));
    assert.equal((await ws.svc(['task', 'archive', ids[0]!], { env: { SVC_RUN_ID: 'another' } })).code, 3);
  });

  test('an archived task that is assigned again returns to the lists', async () => {
    const id = await add();
    await ws.svc(['task', 'archive', id]);
    assert.equal((await ws.svc(['task', 'assign', id, 'scripted'])).code, 0);
    assert.ok((await list()).includes(id));
  });
});

describe('svc clean', () => {
  test('svc clean shows what it would remove, removes it, and needs the Chair', async () => {
    const ws = await makeWorkspace({ hosted: true });
    try {
      for (let count = 0; count < 3; count += 1) {
        const id = (await ws.svc(['task', 'add', 'an order', '--json'])).json<{ task_id: string }>().task_id;
        await ws.svc(['task', 'done', id]);
      }
      const dry = await ws.svc(['clean', '--older', '0s', '--dry-run']);
      assert.match(dry.stdout, /ended tasks, with decisions and sessions\t0 hours\t2\t/);
      assert.equal((await ws.svc(['task', 'list', '--json'])).json<unknown[]>().length, 3);
      assert.equal((await ws.svc(['clean', '--older', '0s'])).code, 0);
      assert.equal((await ws.svc(['task', 'list', '--json'])).json<unknown[]>().length, 1);
      assert.match((await ws.svc(['clean'])).stdout, /events\t180 days\t0\t/);
      assert.equal((await ws.svc(['clean', '--older', 'x'])).code, 2);
      assert.equal((await ws.svc(['clean'], { env: { SVC_RUN_ID: 'another' } })).code, 3);
    } finally {
      await ws.close();
    }
  });
});
