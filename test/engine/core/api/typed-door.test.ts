import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Api, EngineClient } from '../../../../engine/index.ts';

/** Never called: the test is that it compiles, and that the marked lines do not. */
export async function callThroughTheDoor(client: EngineClient): Promise<void> {
  const task = await client.call('task.add', { title: 'one' });
  const id: string = task.task_id;
  await client.call('engine.status');
  // @ts-expect-error: an operation that does not exist
  await client.call('task.addd', { title: 'one' });
  // @ts-expect-error: a field that does not exist
  await client.call('task.add', { titel: 'one' });
  // @ts-expect-error: a field of another type
  await client.call('task.list', { limit: 'all' });
  // @ts-expect-error: a required input left out
  await client.call('task.show');
  // @ts-expect-error: a field that the answer does not have
  task.id.at(0);
  const status: Api['engine.status']['output'] = await client.call('engine.status');
  assert.ok(status.pid > 0 && id !== '');
}

test("the client's types know each operation's input and output", () => {
  assert.equal(typeof callThroughTheDoor, 'function');
});
