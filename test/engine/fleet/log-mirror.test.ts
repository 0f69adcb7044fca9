import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Duplex, duplexPair } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { encodeLogBlock } from '../../../engine/fleet/log-blocks.ts';
import { createLogMirror } from '../../../engine/fleet/log-mirror.ts';
import { linkLostError } from '../../../engine/fleet/wire/link-lost.ts';
import { until } from '../../support/wait.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

/** Starts to copy the log of s-1 from a machine that sends what the test writes. */
function followOne(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const agentsDir = temporaryFolder();
  const orders: number[] = [];
  let opening = Promise.withResolvers<Duplex>();
  const mirror = createLogMirror(
    {
      openStream(_name, data) {
        orders.push((data as { from: number }).from);
        return opening.promise;
      },
    },
    { agentsDir, log: { info: () => undefined, warn: () => undefined, error: () => undefined } as never },
  );
  t.after(mirror.close);
  mirror.follow('s-1');
  let isFinished = false;
  return {
    mirror,
    orders,
    /** Connects the machine; returns its end, and the function that loses the connection. */
    connect() {
      const [here, there] = duplexPair();
      opening.resolve(here);
      opening = Promise.withResolvers();
      return { there, lose: () => void here.destroy(linkLostError(null)) };
    },
    finish(end: number): Promise<void> {
      return mirror.finish('s-1', end).then(() => {
        isFinished = true;
      });
    },
    isFinished: () => isFinished,
    read: () => readFileSync(join(agentsDir, 's-1', 'log'), 'utf8'),
  };
}

const block = (from: number, text: string): Buffer => encodeLogBlock({ from, bytes: Buffer.from(text) });

test('the end of a run waits for the rest of its log while the machine is cut off, however long', async (t) => {
  const { connect, finish, isFinished, mirror, orders, read } = followOne(t);
  const first = connect();
  first.there.write(block(0, 'one\n'));
  await until(() => mirror.findEnd('s-1') === 4);
  const finished = finish(8);
  t.mock.timers.tick(20_000);
  first.lose();
  await until(() => orders.length === 2, 'the next attempt');
  t.mock.timers.tick(600_000);
  await new Promise(setImmediate);
  assert.equal(isFinished(), false);
  const { there } = connect();
  t.mock.timers.tick(20_000);
  there.write(block(4, 'two\n'));
  await finished;
  assert.deepEqual(orders, [0, 4]);
  assert.equal(read(), 'one\ntwo\n');
});

test('the end of a run waits for a slow log, as long as it grows', async (t) => {
  const { connect, finish, isFinished, mirror, read } = followOne(t);
  const finished = finish(40);
  const { there } = connect();
  for (let at = 0; at < 40; at += 4) {
    assert.equal(isFinished(), false);
    there.write(block(at, 'row\n'));
    await until(() => mirror.findEnd('s-1') === at + 4);
    t.mock.timers.tick(20_000);
  }
  await finished;
  assert.equal(read(), 'row\n'.repeat(10));
});

test('the end of a run does not wait for a log that its connected machine does not send', async (t) => {
  const { connect, finish, mirror } = followOne(t);
  const { there } = connect();
  there.write(block(0, 'one\n'));
  await until(() => mirror.findEnd('s-1') === 4);
  const finished = finish(1e12);
  t.mock.timers.tick(31_000);
  await finished;
});

test('a log whose connection is given up does not hold the end of its run', async (t) => {
  const { finish, mirror } = followOne(t);
  const finished = finish(8);
  mirror.close();
  await finished;
});
