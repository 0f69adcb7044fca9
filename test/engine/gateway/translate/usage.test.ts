import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Protocol } from '../../../../engine/gateway/protocol.ts';
import { type Json, PROTOCOLS } from '../../../support/gateway/plain-protocols.ts';
import { exchange } from '../../../support/gateway/translated.ts';

/**
 * The same tokens as each provider counts them: 100 in the prompt, 60 of them cached; 50 generated, 20 of them
 * reasoning.
 */
const COUNTED: Record<Protocol, Json> = {
  chat: {
    choices: [{ message: { content: 'a' }, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 60 },
      completion_tokens_details: { reasoning_tokens: 20 },
    },
  },
  responses: {
    status: 'completed',
    output: [],
    usage: {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 20 },
      total_tokens: 150,
    },
  },
  messages: {
    content: [],
    stop_reason: 'end_turn',
    usage: {
      input_tokens: 40,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 0,
      output_tokens: 50,
      output_tokens_details: { thinking_tokens: 20 },
    },
  },
  gemini: {
    candidates: [{ content: { parts: [] }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      candidatesTokenCount: 30,
      thoughtsTokenCount: 20,
      totalTokenCount: 150,
    },
  },
};

const usageIn = (body: Json): Json => body.usage ?? body.usageMetadata ?? null;

/** Reports whether a protocol's counts contain the expected ones. */
const contains = (actual: Json, expected: Json, what: string): void => {
  for (const [key, value] of Object.entries(expected))
    if (typeof value === 'object') contains(actual[key], value, `${what}.${key}`);
    else assert.equal(actual[key], value, `${what}.${key}`);
};

describe('usage of tokens', () => {
  for (const from of PROTOCOLS)
    test(`${from}: the same tokens are the same numbers from every service`, () => {
      for (const to of PROTOCOLS.filter((each) => each !== from))
        contains(usageIn(exchange(from, to).answer(COUNTED[to])), usageIn(COUNTED[from]), `from ${to}`);
    });

  test('cache writes are counted separately', () => {
    const usage = {
      input_tokens: 1,
      cache_read_input_tokens: 2,
      cache_creation_input_tokens: 4,
      output_tokens: 8,
    };
    const body = { content: [], stop_reason: 'end_turn', usage };
    const chat = usageIn(exchange('chat', 'messages').answer(body));
    contains(
      chat,
      { prompt_tokens: 7, prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 4 } },
      'chat',
    );
    const back = { choices: [{ message: {}, finish_reason: 'stop' }], usage: chat };
    contains(usageIn(exchange('messages', 'chat').answer(back)), usage, 'messages');
  });

  test('usage is also read from the other fields of chat servers', () => {
    const read = (usage: Json): Json =>
      usageIn(
        exchange('responses', 'chat').answer({ choices: [{ message: {}, finish_reason: 'stop' }], usage }),
      );
    const plain = { prompt_tokens: 10, completion_tokens: 5 };
    assert.equal(read({ ...plain, prompt_cache_hit_tokens: 4 }).input_tokens_details.cached_tokens, 4);
    assert.equal(read({ ...plain, cached_tokens: 3 }).input_tokens_details.cached_tokens, 3);
    const apart = { ...plain, total_tokens: 22, completion_tokens_details: { reasoning_tokens: 7 } };
    assert.equal(read(apart).output_tokens, 12);
    const within = { ...apart, total_tokens: 15 };
    assert.equal(read(within).output_tokens, 5);
    assert.equal(read({}), null);
    assert.equal(read(null), null);
  });

  test('an invalid count is ignored', () => {
    const usage = { prompt_tokens: -1, completion_tokens: 'many', prompt_tokens_details: null };
    const read = usageIn(
      exchange('messages', 'chat').answer({ choices: [{ message: {}, finish_reason: 'stop' }], usage }),
    );
    assert.deepEqual([read.input_tokens, read.output_tokens, read.cache_read_input_tokens], [0, 0, 0]);
  });
});
