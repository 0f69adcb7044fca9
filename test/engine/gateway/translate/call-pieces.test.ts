import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Json, PROTOCOLS } from '../../../support/gateway/plain-protocols.ts';
import { exchange, parseEvents, toEvent } from '../../../support/gateway/translated.ts';

const chunk = (delta: Json, finish_reason: string | null = null): Json => ({
  id: 'x',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
});
const piece = (call: Json): Json => chunk({ tool_calls: [call] });
const whole = (name: string, args: string, more: Json = {}): Json =>
  piece({ ...more, function: { name, arguments: args } });
const END = [chunk({}, 'tool_calls'), '[DONE]'];

const tools = (...names: string[]): Json => ({
  max_tokens: 9,
  messages: [{ role: 'user', content: 'q' }],
  tools: names.map((name) => ({ name, input_schema: { type: 'object' } })),
});

/** Returns the names and arguments of the calls that a client of the messages protocol assembles. */
function readCalls(events: readonly Json[], body: Json = {}): [string, Json][] {
  const calls: { name: string; id: string; json: string }[] = [];
  const told: Json[] = parseEvents(exchange('messages', 'chat', body).stream(events));
  for (const { type, content_block: block, delta } of told) {
    if (type === 'error') assert.fail(JSON.stringify(told.at(-1)));
    if (block?.type === 'tool_use') calls.push({ ...block, json: '' });
    if (delta?.partial_json !== undefined) calls.at(-1)!.json += delta.partial_json;
  }
  assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length, 'call ids are unique');
  assert.equal(told.at(-1).type, 'message_stop');
  return calls.map(({ name, json }) => [name, JSON.parse(json)]);
}

describe('calls of a chat stream', () => {
  const three: [string, Json][] = [
    ['read', { path: 'a' }],
    ['read', { path: 'b' }],
    ['list', {}],
  ];

  test('three whole calls without ids are three calls, with any index', () => {
    for (const more of [{ index: 0 }, {}])
      assert.deepEqual(
        readCalls([...three.map(([name, args]) => whole(name, JSON.stringify(args), more)), ...END]),
        three,
      );
  });

  test('a new name after explicit empty arguments is a new call too', () => {
    for (const more of [{ index: 0 }, {}]) {
      const calls = [whole('list', '{}', more), whole('list', '{}', more), whole('read', '{"x":1}', more)];
      assert.deepEqual(readCalls([...calls, ...END]), [
        ['list', {}],
        ['list', {}],
        ['read', { x: 1 }],
      ]);
    }
    const same = { index: 0, id: 'c' };
    assert.deepEqual(readCalls([whole('f', '{}', same), whole('f', '{"x":1}', same), ...END]), [
      ['f', { x: 1 }],
    ]);
  });

  test('calls in pieces without ids, one after the other at the same index, are different calls', () => {
    const events = three.flatMap(([name, args]) => {
      const text = JSON.stringify(args);
      return [
        whole(name, text.slice(0, 1), { index: 0 }),
        piece({ index: 0, function: { arguments: text.slice(1) } }),
      ];
    });
    assert.deepEqual(readCalls([...events, ...END]), three);
  });

  test('two whole calls with the same id are two calls', () => {
    const more = { index: 0, id: 'bash:0' };
    assert.deepEqual(readCalls([whole('bash', '{"c":1}', more), whole('bash', '{"c":2}', more), ...END]), [
      ['bash', { c: 1 }],
      ['bash', { c: 2 }],
    ]);
  });

  test('a name in pieces is one name', () => {
    for (const parts of [
      ['read_', 'file'],
      ['r', 'ead', '_file'],
    ]) {
      const names = parts.map((name, index) =>
        piece({ index: 0, ...(index === 0 ? { id: 'c' } : {}), function: { name, arguments: '' } }),
      );
      const args = piece({ index: 0, function: { arguments: '{"x":1}' } });
      assert.deepEqual(readCalls([...names, args, ...END]), [['read_file', { x: 1 }]]);
      assert.deepEqual(readCalls([...names, ...END]), [['read_file', {}]]);
    }
  });

  test('a name that is repeated before the arguments is not doubled, and a call without arguments is not merged with the next', () => {
    const named = (name: string): Json => piece({ index: 0, function: { name, arguments: '' } });
    const args = piece({ index: 0, function: { arguments: '{"x":1}' } });
    assert.deepEqual(readCalls([named('f'), named('f'), args, ...END]), [['f', { x: 1 }]]);
    assert.deepEqual(readCalls([named('list'), named('read'), args, ...END], tools('list', 'read')), [
      ['list', {}],
      ['read', { x: 1 }],
    ]);
    assert.deepEqual(readCalls([named('go'), named('go'), args, ...END], tools('gogo')), [
      ['gogo', { x: 1 }],
    ]);
  });

  test('arguments that come before the name, with an id alone, or after empty ones belong to their call', () => {
    assert.deepEqual(
      readCalls([
        piece({ index: 0, function: { arguments: '{"x"' } }),
        piece({ index: 0, id: 'c', function: { name: 'f', arguments: ':1}' } }),
        ...END,
      ]),
      [['f', { x: 1 }]],
    );
    assert.deepEqual(
      readCalls([
        piece({ id: 'c', function: { name: 'f', arguments: '{"x"' } }),
        piece({ id: 'c', function: { arguments: ':1}' } }),
        ...END,
      ]),
      [['f', { x: 1 }]],
    );
    assert.deepEqual(
      readCalls([
        whole('f', '{}', { index: 0, id: 'c' }),
        piece({ index: 0, function: { arguments: '{"x":1}' } }),
        ...END,
      ]),
      [['f', { x: 1 }]],
    );
  });

  test('arguments that are repeated at the end of a call are sent once', () => {
    assert.deepEqual(
      readCalls([
        whole('f', '{"x":1}', { index: 0, id: 'c' }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '{"x":1}' } }] }, 'tool_calls'),
        '[DONE]',
      ]),
      [['f', { x: 1 }]],
    );
  });

  test('a call in the form of older servers is a call', () => {
    assert.deepEqual(
      readCalls([
        chunk({ function_call: { name: 'f', arguments: '{"x"' } }),
        chunk({ function_call: { arguments: ':1}' } }),
        chunk({}, 'function_call'),
        '[DONE]',
      ]),
      [['f', { x: 1 }]],
    );
  });
});

describe('the end of a chat stream', () => {
  for (const from of PROTOCOLS.filter((each) => each !== 'chat')) {
    const isFailed = ({ type, error }: Json): boolean =>
      type === 'error' || type === 'response.failed' || typeof error?.code === 'number';
    const last = (events: readonly Json[]): Json => parseEvents(exchange(from, 'chat').stream(events)).at(-1);
    const begun = whole('f', '{"path": "a', { index: 0, id: 'c' });

    test(`${from}: a finish reason without [DONE] completes an answer`, () => {
      assert.ok(!isFailed(last([chunk({ content: 'a' }), chunk({}, 'stop')])));
      assert.ok(!isFailed(last([whole('f', '{}', { index: 0, id: 'c' }), chunk({}, 'tool_calls')])));
      const usage = { id: 'x', choices: [], usage: { prompt_tokens: 4, completion_tokens: 2 } };
      const told = exchange(from, 'chat').stream([chunk({ content: 'a' }, 'stop'), usage]);
      assert.ok(
        told.slice(-2).some(({ data }) => /okens?(?:Count)?":4,/.test(data)),
        'includes the usage',
      );
    });

    test(`${from}: an end in the middle of a call is an error, with any finish reason`, () => {
      for (const end of [END, ['[DONE]'], [chunk({}, 'stop')], []])
        assert.ok(isFailed(last([begun, ...end])), JSON.stringify(end));
      assert.ok(
        isFailed(
          last([chunk({ content: 'a' }), piece({ index: 0, function: { arguments: '{"x":1}' } }), ...END]),
        ),
      );
    });

    test(`${from}: a call that the limit cut off is a cut answer`, () => {
      assert.ok(!isFailed(last([begun, chunk({}, 'length'), '[DONE]'])));
    });
  }

  test('a client learns of a call only once it is known to be whole', () => {
    const stream = exchange('responses', 'chat').translation.stream();
    const told = [begin(), ...END].flatMap((event) => stream.push(toEvent(event)));
    assert.ok(told.every(({ data }) => !data.includes('response.output_item.done')));
    assert.match(stream.failure() ?? '', /middle of a call/);

    function begin(): Json {
      return whole('f', '{"path": "a', { index: 0, id: 'c' });
    }
  });
});

describe('a call that another provider cuts off', () => {
  test('the cut is an error for responses and messages, and a length end where a limit caused it', () => {
    const responses = [
      { type: 'response.created', response: { id: 'r', model: 'm' } },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"x' },
      },
      { type: 'response.completed', response: { status: 'completed', output: [] } },
    ];
    const said: Json[] = parseEvents(exchange('messages', 'responses').stream(responses));
    assert.equal(said.at(-1).type, 'error');
    const block = { type: 'tool_use', id: 't', name: 'f', input: {} };
    const events = (reason: string): Json[] => [
      { type: 'message_start', message: { id: 'm', model: 'm' } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"x' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: reason }, usage: {} },
      { type: 'message_stop' },
    ];
    const ends = (reason: string): Json =>
      parseEvents(exchange('responses', 'messages').stream(events(reason))).at(-1);
    assert.equal(ends('tool_use').type, 'response.failed');
    assert.equal(ends('max_tokens').type, 'response.incomplete');
  });
});

test('calls that a responses server gives the same index are different calls', () => {
  const item = (id: string): Json => ({ type: 'function_call', id: `fc_${id}`, call_id: id, name: 'f' });
  const events = ['a', 'b'].flatMap((id) => [
    { type: 'response.output_item.added', item: { ...item(id), arguments: '' } },
    { type: 'response.function_call_arguments.delta', delta: `{"id":"${id}"}` },
    { type: 'response.output_item.done', item: { ...item(id), arguments: `{"id":"${id}"}` } },
  ]);
  const output = ['a', 'b'].map((id) => ({ ...item(id), arguments: `{"id":"${id}"}` }));
  for (const repeated of [[], output]) readBoth(repeated);

  function readBoth(repeated: Json[]): void {
    const told: Json[] = parseEvents(
      exchange('chat', 'responses').stream([
        { type: 'response.created', response: { id: 'r', model: 'm' } },
        ...events,
        { type: 'response.completed', response: { status: 'completed', output: repeated } },
      ]),
    );
    const calls = told.flatMap(({ choices }) => choices?.[0]?.delta.tool_calls ?? []);
    assert.deepEqual(
      calls.filter(({ id }) => id !== undefined).map(({ id }: Json) => id),
      ['a', 'b'],
    );
    assert.deepEqual(
      [0, 1].map((index) =>
        calls
          .filter((call) => call.index === index)
          .map((call) => call.function.arguments)
          .join(''),
      ),
      ['{"id":"a"}', '{"id":"b"}'],
    );
  }
});
