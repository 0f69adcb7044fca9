import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { SvcError } from '../../../../engine/core/base/errors.ts';
import { type KeepLinkedOptions, keepLinked, type Link } from '../../../../engine/fleet/wire/index.ts';
import { fakeClock } from '../../../support/clock.ts';
import { until } from '../../../support/wait.ts';
import { cleanUpLinks, linkSockets } from './rig.ts';

/** Keeps links between two sockets; each pause lasts until the test ends it. */
function makeKept(more: Partial<KeepLinkedOptions> = {}) {
  const clock = fakeClock();
  const made: Awaited<ReturnType<typeof linkSockets>>[] = [];
  const linked: Link[] = [];
  const lost: string[] = [];
  const pauses: number[] = [];
  let endPause: () => void = () => undefined;
  let isDown = false;
  const kept = keepLinked({
    async open() {
      if (isDown) throw new SvcError('runner_unreachable', 'box2 is down');
      const pair = await linkSockets();
      made.push(pair);
      return pair.link;
    },
    onLinked: (link) => void linked.push(link),
    onLost: ({ code }) => void lost.push(code),
    clock,
    random: () => 1,
    pause: (ms, signal) =>
      new Promise((resolve) => {
        pauses.push(ms);
        endPause = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
    ...more,
  });
  return {
    kept,
    clock,
    made,
    linked,
    lost,
    pauses,
    setDown: (value: boolean) => {
      isDown = value;
    },
    endPause: () => endPause(),
  };
}

describe('a link that is kept', () => {
  cleanUpLinks();

  it('the next link is the current one, or the one after its end', async () => {
    const { kept, made, linked, lost, pauses, endPause } = makeKept();
    assert.equal(kept.current(), null);
    const first = await kept.next();
    assert.equal(kept.current(), first);
    assert.equal(await first.call('echo', 1), 1);
    made[0]?.other.close();
    await until(() => lost.length === 1 && pauses.length === 1);
    assert.equal(kept.current(), null);
    const next = kept.next();
    endPause();
    assert.notEqual(await next, first);
    assert.deepEqual(linked, [first, await next]);
    await kept.close();
    assert.equal(await (await next).ended, null);
  });

  it('the pauses double from 1-2 s to a minute, and a link of a minute starts them again', async () => {
    const rig = makeKept();
    await rig.kept.next();
    rig.setDown(true);
    rig.made[0]?.other.close();
    for (let count = 1; count <= 8; count += 1) {
      await until(() => rig.pauses.length === count);
      if (count < 8) rig.endPause();
    }
    assert.deepEqual(rig.pauses, [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    assert.equal(rig.lost.length, 8);
    rig.setDown(false);
    const next = rig.kept.next();
    rig.endPause();
    await next;
    rig.clock.advance(60_000);
    rig.made[1]?.other.close();
    await until(() => rig.pauses.length === 9);
    assert.equal(rig.pauses[8], 2000);
    await rig.kept.close();
  });

  it('the pauses of a link with a lease are at most a tenth of it, and not below two seconds', async () => {
    const leases = [30_000, 30_000, 100_000, 10_000, null];
    const rig = makeKept({ readLeaseMs: () => leases[rig.pauses.length] ?? null });
    await rig.kept.next();
    rig.setDown(true);
    rig.made[0]?.other.close();
    for (let count = 1; count <= 5; count += 1) {
      await until(() => rig.pauses.length === count);
      if (count < 5) rig.endPause();
    }
    assert.deepEqual(rig.pauses, [2000, 3000, 8000, 2000, 32_000]);
    await rig.kept.close();
  });

  it('the pauses are random, but never shorter than a second', async () => {
    const { kept, pauses, setDown } = makeKept({ random: () => 0 });
    setDown(true);
    await until(() => pauses.length === 1 || kept.current() !== null);
    kept.current()?.close();
    await until(() => pauses.length === 1);
    assert.deepEqual(pauses, [1000]);
    await kept.close();
  });

  it('reconnecting now ends the pause', async () => {
    let tries = 0;
    const kept = keepLinked({
      async open() {
        tries += 1;
        if (tries === 1) throw new SvcError('runner_unreachable', 'box2 is down');
        return (await linkSockets()).link;
      },
      onLinked: () => undefined,
      onLost: () => setImmediate(() => kept.reconnectNow()),
      random: () => 1000,
    });
    await kept.next();
    assert.equal(tries, 2);
    await kept.close();
  });

  it('a waiter ends by its signal or the close, and leaves no listener', async () => {
    const { kept, setDown, pauses, made } = makeKept();
    await kept.next();
    setDown(true);
    made[0]?.other.close();
    await until(() => pauses.length === 1);
    const controller = new AbortController();
    const cancelled = kept.next(controller.signal);
    controller.abort();
    await assert.rejects(cancelled, { code: 'cancelled' });
    await assert.rejects(kept.next(controller.signal), { code: 'cancelled' });
    const other = new AbortController();
    const closed = assert.rejects(kept.next(other.signal), { code: 'cancelled' });
    await kept.close();
    await closed;
    assert.equal(getEventListeners(other.signal, 'abort').length, 0);
    await assert.rejects(kept.next(), { code: 'cancelled' });
  });

  it('a link that its listener refuses is closed, and counts as a failure', async () => {
    const { kept, lost, made, pauses } = makeKept({
      onLinked: () => {
        throw new SvcError('answer_invalid', 'not the runner that was expected');
      },
    });
    await until(() => pauses.length === 1);
    assert.deepEqual(lost, ['answer_invalid']);
    assert.equal(await made[0]?.link.ended, null);
    assert.equal(kept.current(), null);
    await kept.close();
  });

  it('a close during an attempt ends it, and a link that comes too late is closed', async () => {
    const late = Promise.withResolvers<Link>();
    let isAborted = false;
    const { kept, linked, lost } = makeKept({
      open: (signal) => {
        signal.addEventListener('abort', () => {
          isAborted = true;
        });
        return late.promise;
      },
    });
    await kept.close();
    assert.equal(isAborted, true);
    const { link } = await linkSockets();
    late.resolve(link);
    assert.equal(await link.ended, null);
    assert.deepEqual([linked, lost], [[], []]);
  });
});
