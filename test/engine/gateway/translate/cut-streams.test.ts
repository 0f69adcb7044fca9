import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Protocol, SseEvent } from '../../../../engine/gateway/protocol.ts';
import { createTranslation } from '../../../../engine/gateway/translate/index.ts';
import { createDice, PLAIN_TOOLS, type PlainAnswer } from '../../../support/gateway/plain-exchange.ts';
import { type Json, PAIRS, PLAIN_PROTOCOLS, PROTOCOLS } from '../../../support/gateway/plain-protocols.ts';
import { type SdkClients, startSdkClients } from '../../../support/gateway/sdk-clients.ts';

const ANSWER: PlainAnswer = {
  thinking: 'first',
  text: 'a few words',
  calls: [
    { id: 'call_a', name: PLAIN_TOOLS[0]!.name, args: { path: 'a' } },
    { id: 'call_b', name: PLAIN_TOOLS[1]!.name, args: {} },
  ],
  isCut: false,
  usage: { input: 10, cacheRead: 2, output: 5, reasoning: 1 },
};

const parse = ({ data }: SseEvent): Json => (data === '[DONE]' ? { isDone: true } : JSON.parse(data));

/** Reports whether an event completes the answer. */
const IS_END: Record<Protocol, (event: Json) => boolean> = {
  chat: (event) => event.isDone === true || typeof event.choices?.[0]?.finish_reason === 'string',
  responses: ({ type }) => type === 'response.completed' || type === 'response.incomplete',
  messages: ({ type }) => type === 'message_stop' || type === 'message_delta',
  gemini: ({ candidates }) => candidates?.[0]?.finishReason !== undefined,
};

/** Reports whether an event fails the answer. */
const IS_ERROR: Record<Protocol, (event: Json) => boolean> = {
  chat: ({ error }) => typeof error?.message === 'string',
  responses: ({ type, response }) => type === 'response.failed' && response.status === 'failed',
  messages: ({ type, error }) => type === 'error' && typeof error.type === 'string',
  gemini: ({ error }) => typeof error?.code === 'number',
};

/** Reports whether this many provider events contain the whole answer. */
const isWhole = (to: Protocol, events: readonly SseEvent[]): boolean =>
  to === 'chat' && events.map(parse).some(IS_END.chat);

describe('a stream that ends early', () => {
  for (const [from, to] of PAIRS)
    test(`${from} to ${to}: the early end is an error after every event, and never a clean end`, () => {
      const events = PLAIN_PROTOCOLS[to].stream(ANSWER, createDice(1));
      for (let count = 0; count < events.length; count += 1) {
        const stream = createTranslation(from, to).stream();
        const begin = events.slice(0, count);
        const all = [...begin.flatMap((event) => stream.push(event)), ...stream.end()].map(parse);
        if (isWhole(to, begin)) {
          assert.equal(all.filter(IS_ERROR[from]).length, 0, `after ${count}`);
          assert.ok(all.some(IS_END[from]));
          assert.equal(stream.failure(), null);
          continue;
        }
        assert.match(stream.failure() ?? '', /cut off/);
        assert.equal(all.filter(IS_END[from]).length, 0, `after ${count}: ${JSON.stringify(all.at(-1))}`);
        assert.equal(all.filter(IS_ERROR[from]).length, 1);
        assert.ok(IS_ERROR[from](all.at(-1)));
        assert.deepEqual(stream.end(), []);
        assert.deepEqual(stream.push(events.at(-1)!), []);
      }
    });

  for (const [from, to] of PAIRS)
    test(`${from} to ${to}: invalid JSON, or an error of the provider, ends the stream with an error`, () => {
      const events = PLAIN_PROTOCOLS[to].stream(ANSWER, createDice(1));
      const failed: Record<Protocol, Json> = {
        chat: { error: { message: 'it broke', code: 'server_error' } },
        responses: {
          type: 'response.failed',
          response: { error: { code: 'server_error', message: 'it broke' } },
        },
        messages: { type: 'error', error: { type: 'overloaded_error', message: 'it broke' } },
        gemini: { error: { code: 503, message: 'it broke', status: 'UNAVAILABLE' } },
      };
      for (const data of [`${events[1]!.data.slice(0, -2)}`, JSON.stringify(failed[to])])
        for (const count of [0, 3]) {
          const stream = createTranslation(from, to).stream();
          const begin = events.slice(0, count).flatMap((event) => stream.push(event));
          const all = [...begin, ...stream.push({ event: null, data })].map(parse);
          assert.ok(IS_ERROR[from](all.at(-1)), JSON.stringify(all.at(-1)));
          assert.deepEqual(stream.push(events.at(-1)!), []);
          assert.deepEqual(stream.end(), []);
        }
    });

  describe('the official clients', () => {
    let clients: SdkClients;
    before(async () => {
      clients = await startSdkClients();
    });
    after(() => clients.close());

    for (const from of PROTOCOLS)
      test(`${from}: the client never takes a cut stream for an answer`, async () => {
        const to = PROTOCOLS.find((each) => each !== from)!;
        const events = PLAIN_PROTOCOLS[to].stream(ANSWER, createDice(1));
        for (let count = 0; count < events.length; count += 1) {
          const stream = createTranslation(from, to).stream();
          const begin = events.slice(0, count);
          if (isWhole(to, begin)) continue;
          const all = [...begin.flatMap((event) => stream.push(event)), ...stream.end()];
          const read = await clients.readStream(from, all).catch((error: Error) => error);
          assert.ok(read instanceof Error || read.status === 'failed', JSON.stringify(read));
        }
      });
  });
});

test('1,000 small pieces arrive one by one, and complete', () => {
  const text = Array.from({ length: 1000 }, (_, index) => String.fromCodePoint(0x1f600 + (index % 60))).join(
    '',
  );
  const args = { text };
  const plain = { ...ANSWER, thinking: '', text, calls: [{ id: 'call_a', name: 'shell', args }] };
  for (const [from, to] of PAIRS) {
    // One code unit at a time splits every surrogate pair.
    const pieces = PLAIN_PROTOCOLS[to].stream(plain, { ...createDice(1), below: () => 0 });
    const stream = createTranslation(from, to).stream();
    const counts = pieces.map((piece) => stream.push(piece).length);
    const texts = counts.filter((count) => count === 1).length;
    assert.ok(texts >= 1000, `${from} to ${to}: ${texts}`);
    assert.ok(Math.max(...counts) < 12, `${from} to ${to}: ${Math.max(...counts)}`);
  }
});
