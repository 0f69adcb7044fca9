import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../support/wait.ts';
import { memoryRig } from './rig.ts';

/** A model that knows three subjects. */
const SUBJECTS = [/lorry|freight|truck/i, /wage|salary/i, /frost|snow/i];
const embedSubjects = (texts: readonly string[]) =>
  Promise.resolve(texts.map((text) => [0.01, ...SUBJECTS.map((subject) => (subject.test(text) ? 1 : 0))]));

test('a model of embeddings adds the memories of its subject after those that the words have found', async () => {
  const calls: number[] = [];
  const rig = memoryRig(
    {},
    {
      model: 'up/tiny',
      embed(texts) {
        calls.push(texts.length);
        return embedSubjects(texts);
      },
    },
  );
  for (const title of ['Zqx lorry rules', 'Zqy wage table', 'Zqz frost alarm', 'Zqw freight list'])
    await rig.worker.call('memory.remember', { title, text: title });
  const ask = async (query: string, more: object = {}) =>
    (await rig.worker.call('memory.recall', { query, ...more })).memories.map(({ title }) => title);
  const found = await ask('qqtruck truck');
  assert.deepEqual(new Set(found.slice(0, 2)), new Set(['Zqx lorry rules', 'Zqw freight list']));
  assert.deepEqual(calls, [5]);
  assert.equal((await ask('qqpay salary'))[0], 'Zqy wage table');
  assert.deepEqual(calls, [5, 1], 'the memories are not sent again');
  assert.deepEqual((await ask('frost alarm'))[0], 'Zqz frost alarm');
  assert.deepEqual(await ask('qqtruck', { type: 'decision' }), []);
  const { memories } = await rig.worker.call('memory.recall', { query: 'qqsnow snow' });
  await rig.worker.call('memory.forget', { id: memories[0]?.id ?? '' });
  assert.ok(!(await ask('qqsnow snow')).includes('Zqz frost alarm'));
  rig.close();
});

test('all memories get vectors in the background, and a model that fails changes nothing', async () => {
  let isBroken = false;
  const sent: string[] = [];
  const rig = memoryRig(
    {},
    {
      model: 'up/tiny',
      embed(texts) {
        if (isBroken) return Promise.reject(new Error('no model'));
        sent.push(...texts);
        return embedSubjects(texts);
      },
    },
  );
  for (let count = 0; count < 150; count += 1)
    await rig.worker.call('memory.remember', { title: `Row ${count}`, text: `row ${count}` });
  await rig.worker.call('memory.recall', { query: 'anything' });
  await until(() => sent.length === 151, 'every memory was sent once');
  isBroken = true;
  const { memories } = await rig.worker.call('memory.recall', { query: 'row 42' });
  assert.equal(memories[0]?.title, 'Row 42');
  rig.close();
});
