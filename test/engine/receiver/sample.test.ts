import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { buildSignedSample, type SampleRequest, type SampleWish } from '../../../engine/receiver/sample.ts';
import { makeRig, type Rig, SECRET } from './rig.ts';

let rig: Rig;
beforeEach(() => {
  rig = makeRig();
});
afterEach(() => rig.close());

const sample = (wish: Omit<SampleWish, 'secret' | 'now'>) =>
  buildSignedSample({ ...wish, secret: SECRET, now: rig.clock.now() });

const send = ({ method, path, headers, body }: SampleRequest) => {
  const lower = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return rig.ask({ method, path, headers: lower, body });
};

test('a sample of each route is accepted, and two equal ones do not collide', async () => {
  const wish = { agent: 'scripted', prompt: 'say hello' };
  for (const each of [1, 2]) {
    assert.equal((await send(sample({ ...wish, route: 'task', dispatch: true }))).status, 201, String(each));
    assert.equal((await send(sample({ ...wish, route: 'codehost' }))).status, 201);
    assert.equal((await send(sample({ ...wish, route: 'codehost', template: 'fix' }))).status, 201);
    const chat = await send(sample({ ...wish, route: 'chat', template: 'fix' }));
    assert.match(chat.body.text, /was created and awaits approval/);
  }
  assert.equal(rig.tasks.list({}).length, 8);
  const polled = await send(sample({ route: 'poll', decision: 'd-1' }));
  assert.equal(polled.body.state, 'pending');
  for (const decision of ['d-1', 'd-5']) {
    assert.equal((await send(sample({ route: 'approve', decision }))).body.state, 'approved');
  }
});

test('a sample of /task carries its fields', async () => {
  const wish = {
    route: 'task',
    agent: 'scripted',
    prompt: 'x',
    project: 'app',
    dispatch: true,
    approve: true,
  } as const;
  const { body } = await send(sample(wish));
  assert.equal(body.dispatched, true);
  assert.equal(rig.tasks.get(body.task_id).project, 'app');
  assert.equal((await send(sample({ route: 'task', template: 'fix' }))).status, 201);
});

test('a route with a missing field says so', () => {
  for (const route of ['approve', 'poll', 'codehost', 'chat'] as const) {
    assert.throws(
      () => sample({ route }),
      (error) => error instanceof SvcError && error.code === 'usage',
    );
  }
});
