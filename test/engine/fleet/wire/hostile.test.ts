import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SvcError } from '../../../../engine/core/base/errors.ts';
import { isLinkLost, openLink } from '../../../../engine/fleet/wire/index.ts';
import { settled, until } from '../../../support/wait.ts';
import { HELLO, makePeer } from './peer.ts';
import {
  cleanUpLinks,
  collectFrames,
  HELLO_FRAME,
  KIND,
  linkToBytes,
  makeSockets,
  writeFrame,
} from './rig.ts';

const LARGEST_PAYLOAD = 64 * 1024 - 9;
const fullPart = writeFrame(KIND.part, 0, Buffer.alloc(LARGEST_PAYLOAD, ' '));
const nested = (depth: number): string => `{"name":"n","data":${'['.repeat(depth)}${']'.repeat(depth)}}`;
const lengthOf = (length: number): Buffer => {
  const frame = Buffer.alloc(9);
  frame.writeUInt32BE(length);
  return frame;
};

const MALFORMED: [string, Buffer][] = [
  ['a frame without a kind', lengthOf(0)],
  ['a frame that is too long', lengthOf(64 * 1024)],
  ['a frame of 4 GiB', lengthOf(0xffff_ffff)],
  ['an unknown kind', writeFrame(77, 0, {})],
  ['a second hello', HELLO_FRAME],
  ['JSON that is cut', writeFrame(KIND.notice, 0, '{"name":')],
  ['a list', writeFrame(KIND.notice, 0, '[]')],
  ['a number', writeFrame(KIND.call, 1, '7')],
  ['a call without a method', writeFrame(KIND.call, 1, { input: 1 })],
  ['a call with number 0', writeFrame(KIND.call, 0, { method: 'echo' })],
  ['an answer to no call', writeFrame(KIND.answer, 9, { value: 1 })],
  ['a failure of no call', writeFrame(KIND.failure, 0, { message: 'x', data: {} })],
  ['an answer about no stream', writeFrame(KIND.opened, 3, '')],
  ['bytes of no stream of ours', writeFrame(KIND.bytes, 0x8000_0005, 'abcde')],
  ['a stream of an unknown lane', writeFrame(KIND.open, 1, { name: 'echo', lane: 'fast' })],
  ['a stream with number 0', writeFrame(KIND.open, 0, { name: 'echo', lane: 'logs' })],
  ['a part that is not full', writeFrame(KIND.part, 0, 'a')],
  ['a notice nested too deeply', writeFrame(KIND.notice, 0, nested(101))],
  [
    'a notice that is too large',
    Buffer.concat([...Array(130).fill(fullPart), writeFrame(KIND.notice | 0x80, 0, '{}')]),
  ],
];

/** Numbers from a seed, so that a failure can be repeated. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('a link to a hostile or broken end', () => {
  cleanUpLinks();

  for (const [what, bytes] of MALFORMED)
    it(`the link ends with answer_invalid after ${what}`, async () => {
      const { link, far, near } = await linkToBytes();
      const call = link.call('never', null).catch((error: unknown) => error);
      far.write(bytes);
      const reason = await settled(link.ended);
      assert.equal(reason?.code, 'answer_invalid');
      assert.match(reason?.message ?? '', /^the other end of the link sent /);
      assert.equal(isLinkLost(await call), true);
      await until(() => near.destroyed);
    });

  it('values just below the limits are accepted, in single bytes too', async () => {
    const peer = makePeer();
    const { link, far } = await linkToBytes({}, peer.handlers);
    for (const byte of writeFrame(KIND.notice, 0, nested(97))) far.write(Buffer.of(byte));
    far.write(writeFrame(KIND.alive, 0, ''));
    await until(() => peer.notices.length === 1);
    link.close();
  });

  it('a call in parts above 8 MiB fails alone', async () => {
    const { link, far } = await linkToBytes();
    const frames = collectFrames(far);
    for (let at = 0; at < 130; at += 1) far.write(fullPart);
    far.write(writeFrame(KIND.call | 0x80, 1, '}'));
    far.write(writeFrame(KIND.call, 2, { method: 'echo', input: 'alive' }));
    await until(() => frames.length === 3);
    const [, failure, answer] = frames;
    assert.equal(JSON.parse(String(failure?.payload)).data.code, 'body_too_large');
    assert.equal(failure?.number, 1);
    assert.equal(JSON.parse(String(answer?.payload)).value, 'alive');
    link.close();
  });

  it('more calls and streams than allowed are refused, also if they were cancelled', async () => {
    const handlers = { ...makePeer().handlers, onCall: () => new Promise(() => undefined) };
    const { link, far } = await linkToBytes({}, handlers);
    const frames = collectFrames(far);
    for (let at = 1; at <= 1025; at += 1) {
      far.write(writeFrame(KIND.call, at, { method: 'wait' }));
      far.write(writeFrame(KIND.cancel, at, ''));
    }
    for (let at = 1; at <= 513; at += 1)
      far.write(writeFrame(KIND.open, at, { name: 'stuck', lane: 'logs' }));
    await until(() => frames.some(({ kind }) => kind === KIND.failure));
    await until(() => frames.some(({ kind }) => kind === KIND.refused));
    const codes = frames
      .filter(({ kind }) => kind === KIND.failure || kind === KIND.refused)
      .map(({ number, payload }) => [number, JSON.parse(String(payload)).data.code]);
    assert.deepEqual(codes, [
      [1025, 'limit_reached'],
      [513, 'limit_reached'],
    ]);
    link.close();
  });

  it('an end that asks without reading the answers loses the link', async () => {
    const { link, far } = await linkToBytes();
    far.on('error', () => undefined);
    for (let at = 1; at <= 20; at += 1)
      far.write(writeFrame(KIND.call, at, { method: 'text', input: 4 * 1024 * 1024 }));
    let asked = 0;
    const ask = (): void => {
      for (let at = 0; at < 500; at += 1) {
        asked += 1;
        far.write(writeFrame(KIND.open, asked, { name: 'missing', lane: 'logs' }));
      }
      if (!far.destroyed) setImmediate(ask);
    };
    ask();
    assert.equal((await settled(link.ended))?.code, 'limit_reached');
  });

  it('random bytes and broken frames never end the process, but the link', async () => {
    const frames = [
      writeFrame(KIND.call, 1, { method: 'echo', input: { a: [1, 2, 3] } }),
      writeFrame(KIND.cancel, 1, ''),
      writeFrame(KIND.notice, 0, { name: 'beat', data: {} }),
      writeFrame(KIND.open, 1, { name: 'echo', data: null, lane: 'files' }),
      writeFrame(KIND.bytes, 1, Buffer.from('\0\0\0\0bytes')),
      writeFrame(KIND.credit, 1, Buffer.from('\0\0\0\x09')),
      writeFrame(KIND.end, 1, Buffer.from('\0\0\0\x01')),
      writeFrame(KIND.reset, 1, { message: 'gone', data: { code: 'conflict' } }),
      writeFrame(KIND.part, 0, Buffer.alloc(LARGEST_PAYLOAD)),
    ];
    for (let seed = 1; seed <= 300; seed += 1) {
      const random = seeded(seed);
      const pick = (below: number): number => Math.floor(random() * below);
      const { link, far } = await linkToBytes();
      far.on('error', () => undefined);
      far.resume();
      for (let at = pick(30); at >= 0; at -= 1) {
        const frame = Buffer.from(frames[pick(frames.length)] as Buffer);
        for (let flips = pick(4); flips > 0; flips -= 1) frame[pick(Math.min(frame.length, 40))] = pick(256);
        far.write(random() < 0.1 ? Buffer.from(Array.from({ length: pick(200) }, () => pick(256))) : frame);
      }
      far.end();
      const reason = await settled(link.ended, `the end of seed ${seed}`);
      assert.match(reason?.code ?? '', /^(?:answer_invalid|runner_unreachable)$/, `seed ${seed}`);
    }
  });

  it('another protocol is refused at both ends, with both versions', async () => {
    const [near, far] = await makeSockets();
    const { handlers } = makePeer();
    const [one, other] = await Promise.allSettled([
      openLink(near, HELLO, handlers),
      openLink(far, { protocol: 2, version: '0.2.0', about: null }, handlers),
    ]);
    const [ours, theirs] = [one, other].map((each) => (each.status === 'rejected' ? each.reason : null));
    assert.equal(ours.code, 'protocol_mismatch');
    assert.match(ours.message, /protocol 2 \(svc 0\.2\.0\), and this one 1 \(svc 0\.1\.0\)/);
    assert.equal(theirs.code, 'protocol_mismatch');
    await until(() => near.destroyed && far.destroyed);
  });

  it('an opening fails without a hello, with noise, at an end, and by its signal', async () => {
    const { handlers } = makePeer();
    const openWith = async (
      begin: (far: Awaited<ReturnType<typeof makeSockets>>[1]) => void,
      options = {},
    ): Promise<unknown> => {
      const [near, far] = await makeSockets();
      const opening = openLink(near, HELLO, handlers, options);
      begin(far);
      const outcome = await opening.catch((error: SvcError) => error.code);
      await until(() => near.destroyed);
      return outcome;
    };
    assert.equal(await settled(openWith(() => undefined, { helloMs: 20 })), 'runner_unreachable');
    assert.equal(await openWith((far) => far.write('Welcome to box2, last login: never')), 'answer_invalid');
    assert.equal(await openWith((far) => far.write(writeFrame(KIND.call, 1, {}))), 'answer_invalid');
    assert.equal(await openWith((far) => far.end()), 'runner_unreachable');
    const controller = new AbortController();
    const cancel = (): void => controller.abort();
    assert.equal(await openWith(cancel, { signal: controller.signal }), 'cancelled');
    assert.equal(await openWith(cancel, { signal: controller.signal }), 'cancelled');
    const [near] = await makeSockets();
    const large = { ...HELLO, about: 'x'.repeat(70_000) };
    await assert.rejects(openLink(near, large, handlers), { code: 'body_too_large' });
  });

  it('a notice whose listener throws ends the link with that error', async () => {
    const handlers = {
      ...makePeer().handlers,
      onNotice: () => {
        throw new SvcError('conflict', 'unexpected');
      },
    };
    const { link, far } = await linkToBytes({}, handlers);
    far.write(writeFrame(KIND.notice, 0, { name: 'beat', data: null }));
    assert.equal((await link.ended)?.code, 'conflict');
  });
});
