import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTranslation } from '../../../../engine/gateway/translate/index.ts';
import {
  createDice,
  type PlainAnswer,
  type PlainRequest,
  randomAnswer,
  randomRequest,
} from '../../../support/gateway/plain-exchange.ts';
import { type Json, PAIRS, PLAIN_PROTOCOLS } from '../../../support/gateway/plain-protocols.ts';
import { type SdkClients, startSdkClients } from '../../../support/gateway/sdk-clients.ts';

const ROUNDS = 60;

/** The official clients' accumulators drop fields that only other servers send. */
const withoutThinking = (answer: PlainAnswer): PlainAnswer => ({ ...answer, thinking: '' });

/** Both OpenAI protocols report a failed call in the text of its result. */
const withErrorsInText = (plain: PlainRequest): PlainRequest => ({
  ...plain,
  turns: plain.turns.map((turn) =>
    turn.role !== 'results'
      ? turn
      : {
          ...turn,
          results: turn.results.map((result) =>
            result.isError ? { ...result, text: `Error: ${result.text}`, isError: false } : result,
          ),
        },
  ),
});

describe('every pair of protocols', () => {
  let clients: SdkClients;
  before(async () => {
    clients = await startSdkClients();
  });
  after(() => clients.close());

  for (const [from, to] of PAIRS) {
    const caller = PLAIN_PROTOCOLS[from];
    const provider = PLAIN_PROTOCOLS[to];

    test(`${from} to ${to}: a provider understands the client's conversation`, () => {
      for (let seed = 0; seed < ROUNDS * 5; seed += 1) {
        const plain = randomRequest(seed);
        const body = createTranslation(from, to).request(caller.request(plain), 'm');
        const understood = provider.understand(JSON.parse(JSON.stringify(body)));
        if (from === 'messages' || from === 'gemini') assert.deepEqual(understood, plain, `seed ${seed}`);
        else assert.deepEqual(withErrorsInText(understood), withErrorsInText(plain), `seed ${seed}`);
      }
    });

    test(`${from} to ${to}: the official client reads the whole answer of the provider`, async () => {
      for (let seed = 0; seed < ROUNDS / 4; seed += 1) {
        const plain = randomAnswer(seed);
        const body = createTranslation(from, to).response(provider.answer(plain));
        assert.deepEqual(caller.readAnswer(body), plain, `seed ${seed}`);
        const read: Json = await clients.readAnswer(from, 200, body);
        assert.deepEqual(caller.readAnswer(JSON.parse(JSON.stringify(read))), plain, `seed ${seed}`);
      }
    });

    test(`${from} to ${to}: the official client reads the streamed answer of the provider`, async () => {
      for (let seed = 0; seed < ROUNDS; seed += 1) {
        const plain = randomAnswer(seed);
        const stream = createTranslation(from, to).stream();
        const events = provider.stream(plain, createDice(seed)).flatMap((event) => stream.push(event));
        const all = [...events, ...stream.end()];
        // JSON escapes only lone surrogates.
        for (const { data } of all) assert.doesNotMatch(data, /\\ud[89a-f]/i);
        const read: Json = await clients.readStream(from, all);
        const answer = caller.readAnswer(JSON.parse(JSON.stringify(read)));
        if (from === 'chat')
          assert.deepEqual(withoutThinking(answer), withoutThinking(plain), `seed ${seed}`);
        else assert.deepEqual(answer, plain, `seed ${seed}`);
      }
    });
  }
});
