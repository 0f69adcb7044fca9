import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { SvcError } from '../../../../engine/core/base/errors.ts';
import { isLinkLost } from '../../../../engine/fleet/wire/index.ts';
import { settled, until } from '../../../support/wait.ts';
import { cleanUpLinks, linkSockets, linkToProcess } from './rig.ts';

const MIB = 1024 * 1024;

describe('calls over a link', () => {
  cleanUpLinks();

  it('a call to another process returns its answer, and both ends know each other', async () => {
    const { link } = await linkToProcess();
    assert.deepEqual(link.peer, { protocol: 1, version: '0.1.0', about: { name: 'box2' } });
    assert.deepEqual(await link.call('echo', { a: [1, null, 'ä'] }), { a: [1, null, 'ä'] });
    assert.equal(await link.call('echo', undefined), undefined);
  });

  it('a call works in both directions at once', async () => {
    const { link, other } = await linkSockets();
    assert.deepEqual(await Promise.all([link.call('echo', 1), other.call('echo', 2)]), [1, 2]);
  });

  it('an error crosses with its code, message, hint and facts', async () => {
    const { link } = await linkToProcess();
    await assert.rejects(link.call('refuse', null), (error: SvcError) => {
      assert.equal(error.code, 'lock_denied');
      assert.equal(error.message, 'the lock of a.ts is held');
      assert.equal(String(error.hint), 'svc lock list shows by whom');
      assert.deepEqual(error.data, { path: 'a.ts', holder: 's-7' });
      assert.equal(isLinkLost(error), false);
      return error instanceof SvcError;
    });
    await assert.rejects(link.call('fail', null), { code: 'internal', message: 'not ours' });
    await assert.rejects(link.call('unknown', null), { code: 'internal', message: 'of a later version' });
    await assert.rejects(link.call('unwritable', null), { code: 'internal' });
    await assert.rejects(link.call('missing', null), { code: 'not_found' });
    await assert.rejects(async () => link.call('echo', 1n), { code: 'internal' });
    assert.equal(await link.call('echo', 'alive'), 'alive');
  });

  it('the reports of a call arrive in order before its answer, whatever their size', async () => {
    const { link } = await linkToProcess();
    const reports: unknown[] = [];
    const answer = await link.call('report', 4, { onReport: (report) => reports.push(report) });
    assert.equal(answer, 'reported');
    assert.deepEqual(reports, [0, 'x'.repeat(200_000), 2, 3]);
  });

  it('a call whose listener of reports throws is cancelled with that error', async () => {
    const { link } = await linkToProcess();
    const call = link.call('wait', null, {
      onReport: () => {
        throw new SvcError('conflict', 'unexpected');
      },
    });
    await assert.rejects(call, { code: 'conflict' });
    await until(async () => (await link.call('aborted', null)) === 1);
  });

  it('an abort cancels the work at the other end, and leaves no listener', async () => {
    const { link } = await linkToProcess();
    const controller = new AbortController();
    const call = link.call('wait', null, {
      signal: controller.signal,
      onReport: () => controller.abort(),
    });
    await assert.rejects(call, { code: 'cancelled' });
    await until(async () => (await link.call('aborted', null)) === 1);
    await assert.rejects(link.call('echo', 1, { signal: controller.signal }), { code: 'cancelled' });
    const unused = new AbortController();
    await link.call('echo', 1, { signal: unused.signal });
    assert.equal(getEventListeners(unused.signal, 'abort').length, 0);
  });

  it('a call and an answer of almost 8 MiB cross, and larger ones fail alone', async () => {
    const { link } = await linkToProcess();
    const text = 'ü'.repeat((8 * MIB - 100) / 2);
    const [echoed, small] = await Promise.all([link.call('echo', text), link.call('echo', 'small')]);
    assert.equal(echoed === text, true);
    assert.equal(small, 'small');
    await assert.rejects(async () => link.call('echo', 'x'.repeat(8 * MIB)), { code: 'body_too_large' });
    await assert.rejects(link.call('text', 9 * MIB), { code: 'body_too_large' });
    assert.throws(() => link.notify('big', 'x'.repeat(8 * MIB)), { code: 'body_too_large' });
    assert.equal(await link.call('echo', 'alive'), 'alive');
  });

  it('a cancel does not overtake its large call', async () => {
    const { link } = await linkToProcess();
    const controller = new AbortController();
    const call = link.call('wait', 'x'.repeat(4 * MIB), { signal: controller.signal });
    controller.abort();
    await assert.rejects(call, { code: 'cancelled' });
    await until(async () => (await link.call('aborted', null)) === 1);
  });

  it('1,000 calls at once are answered, and the one above 1,024 is refused', async () => {
    const { link } = await linkToProcess();
    const inputs = Array.from({ length: 1000 }, (_, at) => ({ at, text: 'x'.repeat(at) }));
    assert.deepEqual(await Promise.all(inputs.map((input) => link.call('echo', input))), inputs);
    const controller = new AbortController();
    const waiting = Array.from({ length: 1024 }, () =>
      link.call('wait', null, { signal: controller.signal }).catch((error: SvcError) => error.code),
    );
    await assert.rejects(link.call('echo', 1), { code: 'limit_reached' });
    controller.abort();
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['cancelled']));
    await until(async () => (await link.call('aborted', null).catch(() => null)) === 1024);
  });

  it('notices arrive in order, whatever their size', async () => {
    const { link } = await linkToProcess();
    const sent = [1, 'y'.repeat(300_000), 3].map((data) => ({ name: 'beat', data }));
    for (const { name, data } of sent) link.notify(name, data);
    await until(async () => ((await link.call('notices', null)) as unknown[]).length === 3);
    assert.deepEqual(await link.call('notices', null), sent);
  });

  it('a process that is killed during a call loses the call and its streams', async () => {
    const { link, child } = await linkToProcess();
    const stream = await link.openStream('echo', null, 'calls');
    const closed = new Promise((resolve) => stream.once('close', resolve));
    const begun = Promise.withResolvers<void>();
    const call = link.call('wait', null, { onReport: () => begun.resolve() });
    await begun.promise;
    child.kill('SIGKILL');
    await assert.rejects(call, (error: SvcError) => isLinkLost(error) && error.code === 'runner_unreachable');
    assert.equal((await settled(link.ended))?.code, 'runner_unreachable');
    await closed;
    assert.equal(isLinkLost(stream.errored), true);
    await assert.rejects(link.call('echo', 1), (error) => isLinkLost(error));
    await assert.rejects(link.openStream('echo', null, 'logs'), (error) => isLinkLost(error));
    link.notify('beat', null);
  });

  it('a close sends what is ready, ends with null, and aborts the work of both ends', async () => {
    const { link, other, connection } = await linkSockets();
    const begun = Promise.withResolvers<void>();
    const lost = other.call('wait', null, { onReport: () => begun.resolve() });
    await begun.promise;
    const answer = other.call('text', 2 * MIB);
    await until(() => connection.bytesWritten > 200);
    link.close();
    link.close();
    assert.equal(await link.ended, null);
    await assert.rejects(lost, (error) => isLinkLost(error));
    assert.equal(((await answer) as string).length, MIB);
    assert.equal((await other.ended)?.code, 'runner_unreachable');
    await assert.rejects(link.call('echo', 1), (error) => isLinkLost(error));
    await until(() => connection.destroyed);
    const left = ['data', 'drain'].map((name) => connection.listenerCount(name));
    assert.deepEqual(left, [0, 0]);
  });
});
