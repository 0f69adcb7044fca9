import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type Duplex, PassThrough, type Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import type { SvcError } from '../../../../engine/core/base/errors.ts';
import { isLinkLost, joinStreams, pipeBoth } from '../../../../engine/fleet/wire/index.ts';
import { readToEnd } from '../../../support/read-to-end.ts';
import { settled, until } from '../../../support/wait.ts';
import { sendBytes } from './peer.ts';
import {
  cleanUpLinks,
  collectFrames,
  KIND,
  linkSockets,
  linkToBytes,
  linkToProcess,
  makeSockets,
  writeFrame,
} from './rig.ts';

const MIB = 1024 * 1024;

/** Waits for the close of a stream; an error of it is expected. */
const closed = (stream: Duplex | Writable): Promise<void> =>
  settled(new Promise((resolve) => (stream.closed ? resolve() : stream.once('close', () => resolve()))));

const count = (number: number, bytes = ''): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(number);
  return Buffer.concat([head, Buffer.from(bytes)]);
};

describe('streams of a link', () => {
  cleanUpLinks();

  it('the bytes of a stream come back from another process as they were sent, and its end too', async () => {
    const { link } = await linkToProcess();
    const stream = await link.openStream('echo', { for: 's-1' }, 'files');
    const sent = Buffer.alloc(5 * MIB, 'some text that does not fill a block evenly');
    const coming = buffer(stream);
    for (let at = 0, size = 1; at < sent.length; at += size, size = (size * 3) % 100_003) {
      if (!stream.write(sent.subarray(at, at + size))) await once(stream, 'drain');
    }
    stream.end();
    const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
    assert.equal(hash(await coming), hash(sent));
    await closed(stream);
    assert.equal(stream.errored, null);
  });

  it('an end that accepted a stream may send first and close it', async () => {
    const { link } = await linkToProcess();
    const stream = await link.openStream('source', 300_000, 'calls');
    assert.equal((await readToEnd(stream)).length, 300_000);
    stream.end();
    await closed(stream);
    assert.equal(stream.errored, null);
  });

  it('calls are answered while 50 MB of files flow, and logs arrive before files', async () => {
    const { link } = await linkToProcess();
    const total = 50 * MIB;
    const files = await Promise.all([1, 2].map(() => link.openStream('source', total / 2, 'files')));
    let arrived = 0;
    for (const stream of files) stream.on('data', ({ length }: Buffer) => (arrived += length));
    await until(() => arrived > 0);
    let answered = 0;
    while (arrived < total / 2) {
      const before = arrived;
      await link.call('echo', 1);
      answered += 1;
      assert.ok(arrived - before < 16 * MIB, `${arrived - before} bytes overtook a call`);
    }
    assert.ok(answered > 0);
    const logs = await link.openStream('source', 2 * MIB, 'logs');
    await buffer(logs);
    assert.ok(arrived < total, 'the log came last');
    await Promise.all(files.map((stream) => once(stream, 'end')));
    assert.equal(arrived, total);
  });

  it('a reader that does not read stops its own stream, and no other', async () => {
    const { link } = await linkToProcess();
    const unread = await link.openStream('source', 20 * MIB, 'files');
    const stuck = await link.openStream('stuck', null, 'calls');
    sendBytes(stuck, 20 * MIB);
    const read = await link.openStream('source', 5 * MIB, 'files');
    assert.equal((await buffer(read)).length, 5 * MIB);
    assert.equal(await link.call('echo', 'alive'), 'alive');
    assert.ok(unread.readableLength <= 2 * MIB);
    assert.ok(stuck.writableLength > 0);
    assert.equal((await buffer(unread)).length, 20 * MIB);
    stuck.destroy();
  });

  it('a refused stream rejects with the error of the other end', async () => {
    const { link } = await linkToProcess();
    await assert.rejects(link.openStream('missing', null, 'logs'), { code: 'not_found' });
    await assert.rejects(link.openStream('echo', 'x'.repeat(9 * MIB), 'logs'), { code: 'body_too_large' });
  });

  it('a destroy reaches the other end, with its error or without', async () => {
    const { link, peer } = await linkSockets();
    const broken = await link.openStream('broken', null, 'logs').catch((error: SvcError) => error);
    if (broken instanceof Error) assert.equal((broken as SvcError).code, 'storage_full');
    else {
      await closed(broken);
      assert.equal((broken.errored as SvcError).code, 'storage_full');
    }
    const throwing = await link.openStream('throwing', null, 'logs').catch(() => null);
    if (throwing !== null) await closed(throwing);
    const stream = await link.openStream('stuck', null, 'logs');
    const theirs = peer.streams.at(-1) as Duplex;
    stream.destroy();
    await closed(theirs);
    assert.equal(theirs.errored, null);
  });

  it('the end of a link destroys its streams, and the 513th stream is refused', async () => {
    const { link, other, peer } = await linkSockets();
    const streams = await Promise.all(
      Array.from({ length: 512 }, () => link.openStream('stuck', null, 'logs')),
    );
    await assert.rejects(link.openStream('stuck', null, 'logs'), { code: 'limit_reached' });
    other.close();
    await Promise.all([...streams, ...peer.streams].map(closed));
    assert.equal(
      streams.every(({ errored }) => isLinkLost(errored)),
      true,
    );
  });

  it('an opening that is cancelled leaves nothing open', async () => {
    const { link, peer } = await linkSockets();
    const controller = new AbortController();
    const opening = link.openStream('stuck', 'x'.repeat(200_000), 'logs', controller.signal);
    controller.abort();
    await assert.rejects(opening, { code: 'cancelled' });
    assert.equal(await link.call('echo', 1), 1);
    await until(() => peer.streams.every(({ destroyed }) => destroyed));
  });

  it('a gap, and more bytes than are allowed, close a stream and not the link', async () => {
    const { link, far } = await linkToBytes();
    const frames = collectFrames(far);
    for (const number of [1, 2]) far.write(writeFrame(KIND.open, number, { name: 'stuck', lane: 'logs' }));
    await until(() => frames.filter(({ kind }) => kind === KIND.opened).length === 2);
    far.write(writeFrame(KIND.bytes, 1, count(0, 'a')));
    far.write(writeFrame(KIND.bytes, 1, count(2, 'c')));
    for (let at = 0; at < 6; at += 1) far.write(writeFrame(KIND.bytes, 2, count(at, 'x'.repeat(50_000))));
    await until(() => frames.filter(({ kind }) => kind === KIND.reset).length === 2);
    const errors = frames
      .filter(({ kind }) => kind === KIND.reset)
      .map(({ payload }) => JSON.parse(`${payload}`));
    assert.deepEqual(
      errors.map(({ message, data }) => [data.code, message]),
      [
        ['answer_invalid', 'the other end of the link sent a stream with a gap'],
        ['answer_invalid', 'the other end of the link sent more bytes than this end has room for'],
      ],
    );
    far.write(writeFrame(KIND.call, 7, { method: 'echo', input: 'alive' }));
    await until(() => frames.some(({ kind, number }) => kind === KIND.answer && number === 7));
    link.close();
  });

  it('two connections that are piped into each other pass on bytes, ends and failures', async () => {
    const [[one, other], [three, four]] = await Promise.all([makeSockets(), makeSockets()]);
    pipeBoth(other, three);
    const coming = readToEnd(four);
    one.end('there');
    assert.equal(String(await coming), 'there');
    const back = readToEnd(one);
    four.end('back');
    assert.equal(String(await back), 'back');
    const [[five, six], [seven, eight]] = await Promise.all([makeSockets(), makeSockets()]);
    pipeBoth(six, seven);
    five.destroy(new Error('broken'));
    five.on('error', () => undefined);
    eight.resume();
    await once(eight, 'end');
    // Only a write shows that this was more than an end.
    eight.write('is anyone there');
    eight.on('error', () => undefined);
    await Promise.all([closed(six), closed(seven)]);
  });

  it('joined streams give the last words of an end whose input has failed', async () => {
    const [readable, writable] = [new PassThrough(), new PassThrough()];
    const joined = joinStreams(readable, writable);
    joined.on('error', () => undefined);
    writable.destroy(new Error('EPIPE'));
    await closed(writable);
    readable.end('last words');
    assert.equal(String(await buffer(joined)), 'last words');
    joined.destroy();
    await closed(joined);
    assert.equal(readable.destroyed, true);
  });
});
