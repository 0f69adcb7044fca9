import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { StatsReport, WireValue } from '../../../../engine/index.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('svc stats', () => {
  let ws: TestWorkspace;
  const read = async (...words: string[]) =>
    (await ws.svc(['stats', ...words, '--json'])).json<WireValue<StatsReport>>();

  before(async () => {
    ws = await makeWorkspace({ hosted: true });
  });
  after(() => ws.close());

  test('svc stats reports that there is nothing to count', async () => {
    assert.match((await ws.svc(['stats'])).stdout, /^since +no tasks$/m);
  });

  test('svc stats counts a run to its end, and pending work', async () => {
    await ws.svc(['task', 'add', 'one', '-a', 'scripted', '--prompt', 'hello', '--run', '-f']);
    await ws.svc(['task', 'add', 'two', '-a', 'scripted']);
    const { total, groups, queue } = await read();
    assert.deepEqual([total.outcomes.done, total.outcomes.unfinished, total.runs], [1, 1, 1]);
    assert.deepEqual(
      groups.map(({ key, tasks }) => [key, tasks]),
      [['scripted', 2]],
    );
    assert.equal(queue.running, 0);
    const { stdout } = await ws.svc(['stats']);
    assert.match(stdout, /^tasks +2: 1 done, 1 unfinished$/m);
    assert.match(stdout, /^scripted\t2\t1\t0\t100%\t0%\t/m);
  });

  test('svc stats takes an age or a date, and rejects anything else', async () => {
    assert.equal((await read('--since', '1d', '--by', 'day')).total.tasks, 2);
    assert.equal((await read('--since', '2999-01-01')).total.tasks, 0);
    const { code, stderr } = await ws.svc(['stats', '--since', 'yesterday']);
    assert.equal(code, 2);
    assert.match(stderr, /--since yesterday is neither a date nor an age/);
  });
});
