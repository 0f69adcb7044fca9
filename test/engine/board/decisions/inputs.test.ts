import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import {
  hashInputs,
  listInputChanges,
  nameChanges,
  type RunInputs,
  readPromptInputs,
} from '../../../../engine/board/decisions/inputs.ts';
import { engineHere } from '../../../support/workspaces/engine.ts';
import { fakeSettings } from '../../../support/workspaces/spine.ts';
import { makeWorkspace } from '../../../support/workspaces/workspace.ts';

const text = { title: 'a', body: 'do it', context: null, acceptanceCriteria: ['done'], ledger: null };
const inputs: RunInputs = {
  ...fakeSettings({ agent: 'scripted', project: null }),
  ...readPromptInputs(text),
};

test('the hash covers the values alone: no order, and no sentence that svc may reword', () => {
  assert.equal(hashInputs(inputs), '9124379191b2fd48550ae3279bd569d711176ab18b15c932881ae0635cd11203');
  const turned = Object.fromEntries(Object.entries(inputs).reverse()) as unknown as RunInputs;
  assert.equal(hashInputs(turned), hashInputs(inputs));
});

test('the hash changes with every input', () => {
  for (const name of Object.keys(inputs) as (keyof RunInputs)[]) {
    const other = { ...inputs, [name]: 'another' } as RunInputs;
    assert.notEqual(hashInputs(other), hashInputs(inputs), name);
    assert.deepEqual(
      listInputChanges(inputs, other).map(({ input }) => input),
      [name],
    );
  }
  const parts = [
    { title: 'b' },
    { body: 'Do it' },
    { context: '' },
    { acceptanceCriteria: [] },
    { ledger: 'x.md' },
  ];
  for (const part of parts)
    assert.equal(
      listInputChanges(inputs, { ...inputs, ...readPromptInputs({ ...text, ...part }) }).length,
      1,
    );
});

test('a stronger profile is not a change, a weaker or different one is; with nothing known everything is', () => {
  const of = (before: string, after: string) =>
    listInputChanges({ ...inputs, profile: before }, { ...inputs, profile: after }).length;
  assert.deepEqual(
    [of('none', 'lite'), of('lite', 'strict'), of('strict', 'lite'), of('lite', 'none'), of('lite', 'bring')],
    [0, 0, 1, 1, 1],
  );
  assert.equal(listInputChanges(null, inputs).length, Object.keys(inputs).length);
  assert.equal(
    nameChanges(listInputChanges(inputs, { ...inputs, base: 'x', route: 'y' })),
    'gateway route, base branch',
  );
});

test('a decision of an unknown form is requested again', async (t) => {
  const ws = await makeWorkspace();
  let here = await engineHere(ws, { workerCap: 0 });
  t.after(async () => {
    await here.close();
    await ws.close();
  });
  const { decision_id, task_id } = await here.ask('later');
  await here.close();
  const db = new Database(join(ws.root, '.svc', 'svc.db'));
  db.exec('UPDATE decision SET inputs_version = 99');
  db.close();
  here = await engineHere(ws, { workerCap: 0 });
  await assert.rejects(here.call('decision.approve', { id: decision_id }), { code: 'inputs_changed' });
  await here.call('task.run', { id: task_id });
});
