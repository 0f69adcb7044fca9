import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json } from '../../../support/gateway/plain-protocols.ts';
import { exchange, parseEvents, toEvent } from '../../../support/gateway/translated.ts';

const chunk = (delta: Json, finish_reason: string | null = null): Json => ({
  id: 'x',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
});
const call = (index: number, id: string | undefined, name: string | undefined, args: string): Json =>
  chunk({ tool_calls: [{ index, id, function: { name, arguments: args } }] });

/** Returns the blocks of a message that a client assembles from its events. */
function readMessage(events: Json[]): Json {
  const blocks: Json[] = [];
  let reason: string | null = null;
  for (const event of events) {
    if (event.type === 'content_block_start') {
      assert.equal(event.index, blocks.length, 'a block starts after the previous one has ended');
      assert.ok(blocks.at(-1)?.isOver ?? true);
      blocks.push({ ...event.content_block, json: '' });
    }
    const block = blocks[event.index];
    if (event.type === 'content_block_delta') {
      assert.ok(!block.isOver);
      const { text, thinking, partial_json } = event.delta;
      if (text !== undefined) block.text += text;
      if (thinking !== undefined) block.thinking += thinking;
      if (partial_json !== undefined) block.json += partial_json;
    }
    if (event.type === 'content_block_stop') block.isOver = true;
    if (event.type === 'message_delta') reason = event.delta.stop_reason;
  }
  const said = blocks.map(({ type, text, thinking, name, id, json }) =>
    type === 'tool_use' ? { id, name, input: JSON.parse(json) } : (text ?? thinking),
  );
  return { said, reason };
}

const readChat = (events: Json[]): Json =>
  readMessage(parseEvents(exchange('messages', 'chat').stream(events)));

describe('streams of chat servers', () => {
  test('interleaved calls are sent one after the other', () => {
    const { said } = readChat([
      call(0, 'a', 'f', '{"x'),
      call(1, 'b', 'g', '{"y'),
      call(0, undefined, undefined, '":1}'),
      call(1, undefined, undefined, '":2}'),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ]);
    assert.deepEqual(said, [
      { id: 'a', name: 'f', input: { x: 1 } },
      { id: 'b', name: 'g', input: { y: 2 } },
    ]);
  });

  test('a complete call waits for an incomplete one before it', () => {
    const { said } = readChat([
      call(0, 'a', 'f', '{"x'),
      call(1, 'b', 'g', '{"y":2}'),
      call(2, 'c', 'h', '{"z":3}'),
      call(0, undefined, undefined, '":1}'),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ]);
    assert.deepEqual(
      said.map(({ input }: Json) => input),
      [{ x: 1 }, { y: 2 }, { z: 3 }],
    );
  });

  test('the next call is streamed once the one before it is complete', () => {
    const stream = exchange('messages', 'chat').translation.stream();
    const told = (event: Json): string[] => stream.push(toEvent(event)).map(({ event: name }) => name!);
    told(call(0, 'a', 'f', '{"x":1}'));
    assert.deepEqual(told(call(1, 'b', 'g', '{"y"')), [
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
    ]);
    assert.deepEqual(told(call(1, undefined, undefined, ':1}')), ['content_block_delta']);
  });

  test('text between calls keeps its place', () => {
    const { said } = readChat([
      chunk({ content: 'one' }),
      call(0, 'a', 'f', '{}'),
      chunk({ content: 'two' }),
      call(1, 'b', 'g', ''),
      chunk({ content: 'three' }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ]);
    assert.deepEqual(said, [
      'one',
      { id: 'a', name: 'f', input: {} },
      'two',
      { id: 'b', name: 'g', input: {} },
      'three',
    ]);
  });

  test('whole calls that all have the same index, or none, are different calls', () => {
    const whole = (id: string, index?: number): Json =>
      chunk({ tool_calls: [{ index, id, function: { name: 'f', arguments: `{"id":"${id}"}` } }] });
    for (const index of [0, undefined]) {
      const { said } = readChat([whole('a', index), whole('b', index), chunk({}, 'stop'), '[DONE]']);
      assert.deepEqual(said, [
        { id: 'a', name: 'f', input: { id: 'a' } },
        { id: 'b', name: 'f', input: { id: 'b' } },
      ]);
    }
  });

  test('an id and a name in every piece are one call, arguments may be an object, and an id may be missing', () => {
    const repeated = readChat([
      call(0, 'a', 'f', '{"x"'),
      call(0, 'a', 'f', ':1}'),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ]);
    assert.deepEqual(repeated.said, [{ id: 'a', name: 'f', input: { x: 1 } }]);
    const object = chunk({ tool_calls: [{ index: 0, function: { name: 'f', arguments: { x: 1 } } }] });
    const [{ id, input }] = readChat([object, '[DONE]']).said;
    assert.match(id, /^call_[0-9a-f]{24}$/);
    assert.deepEqual(input, { x: 1 });
  });

  test('the finish reason matches the content, for any word of the server', () => {
    const reasonOf = (reason: string | null, ...before: Json[]): string | null =>
      readChat([...before, chunk({}, reason), '[DONE]']).reason;
    assert.equal(reasonOf('stop', chunk({ content: 'a' })), 'end_turn');
    assert.equal(reasonOf('eos', chunk({ content: 'a' })), 'end_turn');
    assert.equal(reasonOf(null, chunk({ content: 'a' })), 'end_turn');
    assert.equal(reasonOf('stop', call(0, 'a', 'f', '{}')), 'tool_use');
    assert.equal(reasonOf('tool_calls', chunk({ content: 'a' })), 'end_turn');
    assert.equal(reasonOf('length', call(0, 'a', 'f', '{}')), 'max_tokens');
    assert.equal(reasonOf('content_filter', chunk({ content: 'a' })), 'refusal');
    assert.equal(reasonOf('stop', chunk({ refusal: 'no' })), 'refusal');
  });

  test('the stop sequence of an answer is reported where the caller supports it', () => {
    const body = { max_tokens: 9, messages: [], stop_sequences: ['END'] };
    for (const more of [{ stop_reason: 'END' }, { matched_stop: 'END' }]) {
      const { choices } = chunk({}, 'stop');
      const last = { choices: [{ ...choices[0], ...more }] };
      const told = parseEvents(
        exchange('messages', 'chat', body).stream([chunk({ content: 'a' }), last, '[DONE]']),
      );
      assert.deepEqual(
        [told.at(-2).delta.stop_reason, told.at(-2).delta.stop_sequence],
        ['stop_sequence', 'END'],
      );
      const whole = { choices: [{ message: { content: 'a' }, finish_reason: 'stop', ...more }] };
      assert.equal(exchange('messages', 'chat', body).answer(whole).stop_sequence, 'END');
      assert.equal(exchange('messages', 'chat').answer(whole).stop_reason, 'end_turn');
    }
  });

  test('an end without an answer, or one that the server broke off, is an error', () => {
    for (const events of [
      ['[DONE]'],
      [chunk({ role: 'assistant' }), '[DONE]'],
      [chunk({ content: 'a' }, 'error'), '[DONE]'],
    ])
      assert.equal(parseEvents(exchange('messages', 'chat').stream(events)).at(-1).type, 'error');
  });

  test('usage is read in every chunk, in a separate one, or never', () => {
    const usage = (input: number, output: number): Json => ({
      prompt_tokens: input,
      completion_tokens: output,
    });
    const ends = (events: Json[]): Json =>
      parseEvents(exchange('responses', 'chat').stream(events)).at(-1).response;
    const every = ends([
      { ...chunk({ content: 'a' }), usage: usage(9, 1) },
      { ...chunk({ content: 'b' }, 'stop'), usage: usage(9, 2) },
      '[DONE]',
    ]);
    assert.deepEqual(
      [every.usage.input_tokens, every.usage.output_tokens, every.output[0].content[0].text],
      [9, 2, 'ab'],
    );
    const apart = ends([
      chunk({ content: 'a' }, 'stop'),
      { id: 'x', choices: [], usage: usage(8, 3) },
      '[DONE]',
    ]);
    assert.deepEqual([apart.usage.input_tokens, apart.usage.total_tokens], [8, 11]);
    const never = ends([{ ...chunk({ content: 'a' }, 'stop'), usage: null }, '[DONE]']);
    assert.equal(never.usage, null);
    assert.equal(never.status, 'completed');
  });

  test('a caller of chat gets the usage only when it requested it', () => {
    const said: Json[] = [
      {
        type: 'message_start',
        message: { id: 'msg_1', model: 'm', usage: { input_tokens: 3, output_tokens: 1 } },
      },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ];
    const body = { messages: [], stream: true };
    const without = parseEvents(exchange('chat', 'messages', body).stream(said));
    assert.ok(without.every(({ usage }) => usage === undefined));
    const asked = { ...body, stream_options: { include_usage: true } };
    const told = parseEvents(exchange('chat', 'messages', asked).stream(said));
    assert.deepEqual(told.at(-2).choices, []);
    assert.equal(told.at(-2).usage.total_tokens, 5);
    assert.equal(told.at(-1), '[DONE]');
  });
});

describe('streams of responses servers', () => {
  const added = (item: Json, index = 0): Json => ({
    type: 'response.output_item.added',
    output_index: index,
    item,
  });
  const item = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '' };
  const created = { type: 'response.created', response: { id: 'resp_1', model: 'm' } };
  const completed = (output: Json[] = []): Json => ({
    type: 'response.completed',
    response: { status: 'completed', output, usage: { input_tokens: 1, output_tokens: 1 } },
  });
  const read = (events: Json[]): Json =>
    readMessage(parseEvents(exchange('messages', 'responses').stream(events)));

  test('arguments may arrive in pieces, at their end, with the item, or with the response', () => {
    const args = '{"x":1}';
    const whole = { ...item, arguments: args };
    const delta = (text: string): Json => ({
      type: 'response.function_call_arguments.delta',
      output_index: 0,
      delta: text,
    });
    const done = { type: 'response.function_call_arguments.done', output_index: 0, arguments: args };
    const itemDone = { type: 'response.output_item.done', output_index: 0, item: whole };
    for (const events of [
      [added(item), delta('{"x"'), delta(':1}'), done, itemDone, completed([whole])],
      [added(item), done, completed()],
      [added(item), delta('{"x'), done, completed()],
      [added(item), itemDone, completed()],
      [itemDone, completed([whole])],
      [completed([whole])],
    ])
      assert.deepEqual(read([created, ...events]), {
        said: [{ id: 'c', name: 'f', input: { x: 1 } }],
        reason: 'tool_use',
      });
    assert.deepEqual(read([created, added(item), completed()]).said, [{ id: 'c', name: 'f', input: {} }]);
  });

  test('interleaved items are sent one after the other', () => {
    const text = (output_index: number, delta: string): Json => ({
      type: 'response.output_text.delta',
      output_index,
      content_index: 0,
      delta,
    });
    const { said } = read([created, text(0, 'a'), text(1, 'x'), text(0, 'b'), text(1, 'y'), completed()]);
    assert.deepEqual(said, ['ab', 'xy']);
  });

  test('a cut response is cut, and a failed one is an error', () => {
    const response = {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [],
    };
    assert.equal(read([created, { type: 'response.incomplete', response }]).reason, 'max_tokens');
    const error = { code: 'rate_limit_exceeded', message: 'slow down' };
    const told = parseEvents(
      exchange('messages', 'responses').stream([
        created,
        { type: 'response.failed', response: { status: 'failed', error } },
      ]),
    );
    assert.deepEqual(told.at(-1), {
      type: 'error',
      error: { type: 'rate_limit_error', message: 'slow down' },
    });
  });
});

describe('streams of messages servers', () => {
  const start = {
    type: 'message_start',
    message: { id: 'msg_1', model: 'm', usage: { input_tokens: 5, cache_read_input_tokens: 7 } },
  };
  const block = (index: number, content_block: Json): Json => ({
    type: 'content_block_start',
    index,
    content_block,
  });
  const stop = (index: number): Json => ({ type: 'content_block_stop', index });
  const end = (reason: string, usage: Json = { output_tokens: 3 }): Json[] => [
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  const read = (events: Json[]): Json =>
    parseEvents(exchange('responses', 'messages').stream([start, ...events])).at(-1);

  test('arguments may arrive with the start of a call', () => {
    const tool = { type: 'tool_use', id: 't', name: 'f', input: { x: 1 } };
    const { response } = read([block(0, tool), stop(0), ...end('tool_use')]);
    assert.equal(response.output[0].arguments, '{"x":1}');
  });

  test('counts of the start apply where the end has none', () => {
    for (const usage of [
      { output_tokens: 3 },
      { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 3 },
    ]) {
      const { response } = read(end('end_turn', usage));
      assert.deepEqual(
        [
          response.usage.input_tokens,
          response.usage.input_tokens_details.cached_tokens,
          response.usage.output_tokens,
        ],
        [12, 7, 3],
      );
    }
  });

  test("the provider's own tool results are left out, and a paused turn is not complete", () => {
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
    const { response } = read([
      block(0, search),
      stop(0),
      block(1, { type: 'text', text: 'a' }),
      stop(1),
      ...end('pause_turn'),
    ]);
    assert.deepEqual(
      response.output.map(({ type }: Json) => type),
      ['message'],
    );
    assert.equal(response.status, 'incomplete');
  });

  test('a refusal is a refusal in every protocol', () => {
    const delta = { stop_reason: 'refusal', stop_details: { type: 'refusal', explanation: 'not that' } };
    const events = [start, { type: 'message_delta', delta, usage: {} }, { type: 'message_stop' }];
    const chat = parseEvents(exchange('chat', 'messages').stream(events));
    assert.ok(chat.some((each) => each.choices?.[0]?.delta.refusal === 'not that'));
    assert.equal(
      chat.at(-3).choices?.[0]?.finish_reason ?? chat.at(-2).choices[0].finish_reason,
      'content_filter',
    );
    assert.equal(read(events.slice(1)).response.incomplete_details.reason, 'content_filter');
    const gemini = parseEvents(exchange('gemini', 'messages').stream(events));
    assert.equal(gemini.at(-1).candidates[0].finishReason, 'SAFETY');
  });
});

describe('streams of Gemini', () => {
  const parts = (list: Json[], more: object = {}): Json => ({
    candidates: [{ content: { role: 'model', parts: list }, ...more }],
    responseId: 'r',
    modelVersion: 'gemini-3-pro',
  });

  test('calls without ids get unique ids', () => {
    const said = parts([{ functionCall: { name: 'f', args: {} } }, { functionCall: { name: 'f' } }], {
      finishReason: 'STOP',
    });
    const ids = [1, 2].flatMap(() =>
      readMessage(parseEvents(exchange('messages', 'gemini').stream([said]))).said.map(({ id }: Json) => id),
    );
    assert.equal(new Set(ids).size, 4);
  });

  test('a blocked prompt is a refusal, a malformed call is an error', () => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 3 } };
    const told = parseEvents(exchange('messages', 'gemini').stream([blocked]));
    assert.equal(told.at(-2).delta.stop_reason, 'refusal');
    assert.equal(told.at(-2).usage.input_tokens, 3);
    for (const reason of ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'OTHER']) {
      const broken = parseEvents(
        exchange('messages', 'gemini').stream([parts([], { finishReason: reason })]),
      );
      assert.equal(broken.at(-1).type, 'error');
      assert.match(broken.at(-1).error.message, new RegExp(reason));
    }
  });
});

test('half a character that never gets its other half is replaced', () => {
  const told = parseEvents(
    exchange('messages', 'chat').stream([chunk({ content: 'a\ud83d' }), chunk({}, 'stop'), '[DONE]']),
  );
  const texts = told.filter(({ type }) => type === 'content_block_delta').map(({ delta }) => delta.text);
  assert.deepEqual(texts, ['a', '\ufffd']);
});

test("unknown values are treated as unknown, even names of JavaScript's own members", () => {
  const reason = (word: string): Json =>
    parseEvents(exchange('messages', 'chat').stream([chunk({ content: 'a' }, word), '[DONE]'])).at(-2).delta
      .stop_reason;
  for (const word of ['constructor', 'toString', '__proto__']) assert.equal(reason(word), 'end_turn');
  const parts = { candidates: [{ content: { parts: [] }, finishReason: 'constructor' }] };
  assert.equal(parseEvents(exchange('messages', 'gemini').stream([parts])).at(-1).type, 'error');
  const body = {
    contents: [],
    toolConfig: { functionCallingConfig: { mode: 'constructor' } },
    tools: [{ functionDeclarations: [{ name: 'f' }] }],
  };
  assert.ok(!('tool_choice' in exchange('gemini', 'chat', body).sent));
});

test('events without data, and unknown events, change nothing', () => {
  const { translation } = exchange('messages', 'chat');
  const stream = translation.stream();
  assert.deepEqual(stream.push({ event: 'ping', data: '' }), []);
  for (const data of [
    'null',
    '[]',
    '7',
    '"text"',
    '{}',
    '{"choices":7}',
    '{"choices":[7]}',
    '{"choices":[{"delta":[]}]}',
  ])
    assert.doesNotThrow(() => stream.push({ event: null, data }), data);
});
