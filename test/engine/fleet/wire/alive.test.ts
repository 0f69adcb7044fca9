import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settled } from '../../../support/wait.ts';
import { cleanUpLinks, collectFrames, KIND, linkToBytes, linkToProcess } from './rig.ts';

describe('the signs of life of a link', () => {
  cleanUpLinks();

  it('an end that is silent loses the link', async () => {
    const { link, far } = await linkToBytes({ aliveMs: 20, silentMs: 100 });
    const frames = collectFrames(far);
    const reason = await settled(link.ended);
    assert.equal(reason?.code, 'runner_unreachable');
    assert.match(reason?.message ?? '', /silent/);
    assert.equal(frames.filter(({ kind }) => kind === KIND.alive).length > 0, true);
  });

  it('an idle link stays open, because both ends give signs of life', async () => {
    const often = { aliveMs: 50, silentMs: 700 };
    const { link } = await linkToProcess({ ours: often, theirs: often });
    const outcome = await Promise.race([
      link.ended,
      new Promise((resolve) => setTimeout(resolve, 1500, 'still open')),
    ]);
    assert.equal(outcome, 'still open');
    assert.equal(await link.call('echo', 'alive'), 'alive');
  });

  it('a stopped process that continues reads what waits before it judges the link', async () => {
    const { link, child } = await linkToProcess({
      ours: { aliveMs: 50 },
      theirs: { aliveMs: 80, silentMs: 300 },
    });
    for (let round = 0; round < 2; round += 1) {
      child.kill('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, 600));
      const call = link.call('echo', round);
      child.kill('SIGCONT');
      assert.equal(await call, round);
    }
  });
});
