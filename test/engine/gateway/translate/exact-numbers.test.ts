import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseExactJson } from '../../../../engine/gateway/exact-json.ts';
import { findJsonMembers } from '../../../../engine/gateway/json-members.ts';
import type { Protocol } from '../../../../engine/gateway/protocol.ts';
import { parseHoldingTexts } from '../../../../engine/gateway/server/held-texts.ts';
import { createTranslation } from '../../../../engine/gateway/translate/index.ts';
import { PROTOCOLS } from '../../../support/gateway/plain-protocols.ts';

// Numbers as texts, because a JavaScript literal would be rounded.
const NUMBERS = [
  '9007199254740993',
  '-2512292042121000001',
  '12345678901234567890123',
  '1e400',
  '0.12345678901234567891',
];

const list = `[${NUMBERS.join(',')}]`;
const args = `{"ids":${list}}`;
const quoted = JSON.stringify(args);

/** A conversation with an earlier call, its result, and a schema, all with such numbers. */
const REQUESTS: Record<Protocol, string> = {
  chat: `{"messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${quoted}}}]},{"role":"tool","tool_call_id":"c","content":${quoted}}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"ids":{"enum":${list}}}}}}]}`,
  responses: `{"input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"c","name":"f","arguments":${quoted}},{"type":"function_call_output","call_id":"c","output":${quoted}}],"tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{"ids":{"enum":${list}}}}}]}`,
  messages: `{"max_tokens":9,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":${args}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":${quoted}}]}],"tools":[{"name":"f","input_schema":{"type":"object","properties":{"ids":{"enum":${list}}}}}]}`,
  gemini: `{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"id":"c","name":"f","args":${args}}}]},{"role":"user","parts":[{"functionResponse":{"id":"c","name":"f","response":${args}}}]}],"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","properties":{"ids":{"enum":${list}}}}}]}]}`,
};

const ANSWERS: Record<Protocol, string> = {
  chat: `{"choices":[{"message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":${quoted}}}]},"finish_reason":"tool_calls"}]}`,
  responses: `{"status":"completed","output":[{"type":"function_call","call_id":"c","name":"f","arguments":${quoted}}]}`,
  messages: `{"content":[{"type":"tool_use","id":"c","name":"f","input":${args}}],"stop_reason":"tool_use"}`,
  gemini: `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${args}}}]},"finishReason":"STOP"}]}`,
};

const STREAMS: Record<Protocol, string[]> = {
  chat: [
    `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":${args}}}]}}]}`,
    '{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}',
    '[DONE]',
  ],
  responses: [
    `{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c","name":"f","arguments":${quoted}}}`,
    '{"type":"response.completed","response":{"status":"completed","output":[]}}',
  ],
  messages: [
    '{"type":"message_start","message":{}}',
    `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"f","input":${args}}}`,
    '{"type":"content_block_stop","index":0}',
    '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{}}',
    '{"type":"message_stop"}',
  ],
  gemini: [ANSWERS.gemini],
};

const count = (text: string): number[] =>
  // Within a call's arguments the neighbours of each number are the same, escaped or not.
  NUMBERS.map((number) => text.split(number).length - 1);

describe('numbers that JavaScript cannot hold', () => {
  for (const from of PROTOCOLS)
    for (const to of PROTOCOLS.filter((each) => each !== from)) {
      test(`${from} to ${to}: a request keeps them byte for byte`, () => {
        const body = Buffer.from(REQUESTS[from]);
        const texts = parseHoldingTexts(body, { protocol: from, members: findJsonMembers(body) ?? [] });
        const sent = texts.write(createTranslation(from, to).request(texts.body as object, 'm')).toString();
        assert.deepEqual(count(sent), [3, 3, 3, 3, 3], sent);
      });

      test(`${from} to ${to}: an answer keeps them, whole and as a stream`, () => {
        const whole = JSON.stringify(
          createTranslation(from, to).response(parseExactJson(ANSWERS[to]) as object),
        );
        assert.ok(
          count(whole).every((times) => times >= 1),
          whole,
        );
        const stream = createTranslation(from, to).stream();
        const events = STREAMS[to].flatMap((data) => stream.push({ event: null, data }));
        const streamed = events.map(({ data }) => data).join('\n');
        assert.ok(
          count(streamed).every((times) => times >= 1),
          streamed,
        );
        assert.equal(stream.failure(), null);
      });
    }

  test('all other numbers are plain numbers', () => {
    const text =
      '{"a":1.50,"b":1E3,"c":-0.25,"d":1234567890123456,"e":[1,2],"f":"9007199254740993, 9007199254740993"}';
    assert.deepEqual(parseExactJson(text), JSON.parse(text));
    assert.throws(() => parseExactJson('[9007199254740993'), SyntaxError);
  });
});
