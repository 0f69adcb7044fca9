import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoggedEvent, WireValue } from '../../../engine/index.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

describe('the event list', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  before(async () => {
    ws = await makeWorkspace();
    here = await engineHere(ws, { workerCap: 0 });
    for (const title of ['one', 'two']) await here.call('task.add', { title, body: 'a prompt' });
    for (const agent of ['claude', 'codex']) await here.call('task.assign', { id: 't-1', agent });
  });
  after(async () => {
    await here?.close();
    await ws.close();
  });

  const list = (input: object = {}): Promise<WireValue<LoggedEvent>[]> => here.call('event.list', input);
  const kinds = async (input: object): Promise<string[]> => (await list(input)).map((event) => event.kind);

  test('events are listed newest first, in pages', async () => {
    assert.deepEqual(await kinds({}), [
      'task_assigned',
      'task_assigned',
      'task_created',
      'task_created',
      'engine_started',
    ]);
    const [newest, next] = await list({ limit: 2 });
    assert.equal(newest?.seq, here.engine.events.lastSeq());
    assert.deepEqual(await kinds({ cursor: String(next?.seq), limit: 2 }), ['task_created', 'task_created']);
    assert.deepEqual(await list({ cursor: '1' }), []);
  });

  test('the events of one task are listed alone', async () => {
    assert.deepEqual(await kinds({ task: 't-1' }), ['task_assigned', 'task_assigned', 'task_created']);
    const [newest] = await list({ task: '1', limit: 1 });
    assert.deepEqual(newest?.data, { agent: 'codex' });
    assert.deepEqual(await kinds({ task: 't-1', cursor: String(newest?.seq) }), [
      'task_assigned',
      'task_created',
    ]);
    await assert.rejects(list({ task: 't-77' }), { code: 'not_found' });
  });

  test('every seat may see the events, which contain no prompt', async () => {
    const seen = await here.call('event.list', {}, { seat: 'worker', sessionId: 's-1' });
    assert.equal(seen.length, 5);
    assert.doesNotMatch(JSON.stringify(seen), /a prompt/);
  });
});
