import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type EngineHere, engineHere } from '../../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('the lists of a board', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  before(async () => {
    ws = await makeWorkspace();
    here = await engineHere(ws, { workerCap: 0 });
    // t-1 to t-5; t-2 and t-4 have a past decision, t-5 failed.
    for (let count = 1; count <= 5; count += 1) {
      await here.call('task.add', { title: `number ${count}`, agent: 'scripted' });
    }
    for (const id of ['t-2', 't-4']) {
      await here.call('task.run', { id });
      await here.call('task.cancel', { id });
      await here.call('task.retry', { id, hold: true });
    }
    await here.call('task.done', { id: 't-5', status: 'failed' });
  });
  after(async () => {
    await here?.close();
    await ws.close();
  });

  const tasks = async (input: object): Promise<string[]> =>
    (await here.call('task.list', input)).tasks.map((each) => each.task_id);
  const decisions = async (input: object): Promise<string[]> =>
    (await here.call('decision.list', input)).map((each) => each.decision_id);

  test('the lists return the named tasks, newest first; an unknown one is left out', async () => {
    assert.deepEqual(await tasks({ ids: ['t-1', 't-4', 't-99', 'd-1', 'nonsense'] }), ['t-4', 't-1']);
    assert.deepEqual(await tasks({ ids: [] }), []);
    assert.deepEqual(await tasks({ ids: ['t-5', 't-1'], status: 'failed' }), ['t-5']);
    assert.deepEqual(await tasks({ ids: ['t-5', 't-1'], cursor: 't-5' }), ['t-1']);
    assert.deepEqual(await tasks({ ids: ['t-5', 't-1'], limit: 1 }), ['t-5']);
  });

  test('the lists match ids exactly: t-1 is not a prefix', async () => {
    for (let count = 6; count <= 10; count += 1) await here.call('task.add', { title: `number ${count}` });
    assert.deepEqual(await tasks({ ids: ['t-1'] }), ['t-1']);
  });

  test('the lists continue where a page ended, also within one status', async () => {
    assert.deepEqual(await tasks({ limit: 2 }), ['t-10', 't-9']);
    assert.deepEqual(await tasks({ limit: 2, cursor: 't-9' }), ['t-8', 't-7']);
    assert.deepEqual(await tasks({ status: 'assigned', cursor: 't-4' }), ['t-3', 't-2', 't-1']);
    assert.deepEqual(await tasks({ cursor: 't-1' }), []);
  });

  test('the lists return all of a thousand named tasks without a limit, and refuse more', async () => {
    const many = Array.from({ length: 1000 }, (_, index) => `t-${index + 1}`);
    for (let count = 0; count < 120; count += 1) await here.call('task.add', { title: `more ${count}` });
    assert.equal((await tasks({ ids: many })).length, 130);
    assert.equal((await tasks({})).length, 50);
    await assert.rejects(tasks({ ids: [...many, 't-1001'] }), { code: 'fields_invalid' });
  });

  test('the lists report for each task whether it waits for a decision', async () => {
    const waiting = async (input: object) =>
      (await here.call('task.list', input)).tasks.flatMap((each) => (each.waits ? [each.task_id] : []));
    assert.deepEqual(await waiting({ limit: 1000 }), []);
    const asked = await here.ask('go');
    assert.deepEqual(await waiting({ limit: 1000 }), [asked.task_id]);
    assert.deepEqual(await waiting({ ids: [asked.task_id] }), [asked.task_id]);
    assert.deepEqual(await waiting({ ids: ['t-1'] }), []);
  });

  test('the lists return the named decisions, with the titles of their tasks', async () => {
    const [newest] = await decisions({});
    assert.deepEqual(await decisions({ ids: ['d-1', newest, 'd-99', 't-1'] }), [newest, 'd-1']);
    assert.deepEqual(await decisions({ ids: ['d-1', newest], state: 'pending' }), [newest]);
    const [first] = await here.call('decision.list', { ids: ['d-1'] });
    assert.deepEqual([first?.title, first?.state], ['number 2', 'approved']);
  });
});
