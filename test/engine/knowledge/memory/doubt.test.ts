import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLabelled } from '../../../bench/memory.ts';
import { memoryRig } from './rig.ts';

test('recall says that nothing is about a question of another project, and rarely about its own', async () => {
  const rig = memoryRig();
  const railways = readLabelled('tenth');
  for (const { key: _, ...each } of railways.memories) await rig.worker.call('memory.remember', each);
  const isDoubted = async (query: string) => {
    const answer = await rig.worker.call('memory.recall', { query });
    if (answer.only_nearest === true) assert.ok(answer.memories.length <= 4, query);
    return answer.only_nearest === true || answer.memories.length === 0;
  };
  const countDoubted = async (queries: readonly { query: string }[]) => {
    let count = 0;
    for (const { query } of queries) if (await isDoubted(query)) count += 1;
    return count;
  };
  const sharing = railways.queries.filter((each) => each.hasOtherWords !== true);
  assert.ok((await countDoubted(sharing)) <= 1);
  const strangers = readLabelled('seventh').queries;
  const doubted = await countDoubted(strangers);
  assert.ok(doubted >= 0.75 * strangers.length, `${doubted} of ${strangers.length}`);
  rig.close();
});

test('an answer with only the nearest memories says so in its text', async () => {
  const rig = memoryRig();
  for (const title of [
    'Timetables are versioned',
    'Fares are data',
    'Signals are red',
    'Crews rest',
    'Maps are drawn',
  ])
    await rig.worker.call('memory.remember', { title, text: 'Every morning in the office.' });
  const query = 'refund of cancelled subscriptions in the office';
  const doubted = await rig.worker.call('memory.recall', { query });
  assert.equal(doubted.memories.length, 4);
  assert.match(rig.say('memory.recall', doubted), /^nothing about this; nearest:\nm-/);
  const sure = await rig.worker.call('memory.recall', { query: 'who rests in crews' });
  assert.match(rig.say('memory.recall', sure), /^m-/);
  rig.close();
});
