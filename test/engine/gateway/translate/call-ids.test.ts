import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Protocol } from '../../../../engine/gateway/protocol.ts';
import type { Json } from '../../../support/gateway/plain-protocols.ts';
import { exchange, parseEvents } from '../../../support/gateway/translated.ts';

interface Pair {
  id: string;
  args: Json;
  said: string;
}

/** Returns the calls of a conversation with their results, as the provider reads them. */
const PAIRS: Partial<Record<Protocol, (sent: Json) => Pair[]>> = {
  chat: ({ messages }) => {
    const results = messages.filter(({ role }: Json) => role === 'tool');
    const calls = messages.flatMap(({ tool_calls: list }: Json) => list ?? []);
    return calls.map(({ id, function: { arguments: args } }: Json) => ({
      id,
      args: JSON.parse(args),
      said: results
        .filter((each: Json) => each.tool_call_id === id)
        .map(({ content }: Json) => content)
        .join('|'),
    }));
  },
  responses: ({ input }) =>
    input
      .filter(({ type }: Json) => type === 'function_call')
      .map(({ call_id: id, arguments: args }: Json) => ({
        id,
        args: JSON.parse(args),
        said: input
          .filter((each: Json) => each.type === 'function_call_output' && each.call_id === id)
          .map(({ output }: Json) => output)
          .join('|'),
      })),
  messages: ({ messages }) => {
    const blocks = messages.flatMap(({ content }: Json) => content);
    return blocks
      .filter(({ type }: Json) => type === 'tool_use')
      .map(({ id, input: args }: Json) => ({
        id,
        args,
        said: blocks
          .filter((each: Json) => each.tool_use_id === id)
          .map(({ content }: Json) => content)
          .join('|'),
      }));
  },
};

const call = (id: string, n: number): Json => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: `{"n":${n}}` },
});
const asks = (...tool_calls: Json[]): Json => ({ role: 'assistant', content: null, tool_calls });
const says = (tool_call_id: string, content: string): Json => ({ role: 'tool', tool_call_id, content });
const hi = { role: 'user', content: 'q' };

/** Returns the same conversation for a caller of the messages protocol. */
const asMessages = (messages: Json[]): Json => ({
  max_tokens: 9,
  messages: messages.map(({ role, content, tool_calls: calls, tool_call_id: id }) => {
    if (role === 'tool')
      return { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] };
    if (calls === undefined) return { role, content };
    return {
      role,
      content: calls.map((each: Json) => ({
        type: 'tool_use',
        id: each.id,
        name: each.function.name,
        input: JSON.parse(each.function.arguments),
      })),
    };
  }),
});

function readPairs(messages: Json[], to: Protocol, model = 'm'): Pair[] {
  const { sent } =
    to === 'chat'
      ? exchange('messages', to, asMessages(messages), model)
      : exchange('chat', to, { messages }, model);
  return PAIRS[to]!(sent);
}

describe('ids of calls', () => {
  const twice = [
    hi,
    asks(call('bash:0', 1)),
    says('bash:0', 'one'),
    asks(call('bash:0', 2)),
    says('bash:0', 'two'),
  ];
  const within = [hi, asks(call('x', 1), call('x', 2)), says('x', 'one'), says('x', 'two')];
  const without = [hi, asks(call('', 1), call('', 2)), says('', 'one'), says('', 'two')];
  const later = [hi, asks(call('x', 1)), hi, asks(call('x', 2)), says('x', 'two')];

  for (const to of ['chat', 'responses', 'messages'] as const)
    test(`${to}: every call has a unique id, and its result the same`, () => {
      for (const messages of [twice, within, without]) {
        const pairs = readPairs(messages, to);
        assert.deepEqual(
          pairs.map(({ args, said }) => [args.n, said]),
          [
            [1, 'one'],
            [2, 'two'],
          ],
        );
        assert.equal(new Set(pairs.map(({ id }) => id)).size, 2);
        assert.ok(pairs.every(({ id }) => id !== ''));
      }
      const [first, second] = readPairs(later, to);
      assert.match(first!.said, /interrupted/);
      assert.equal(second!.said, 'two');
    });

  test('the ids of earlier turns do not change when a turn is added', () => {
    const ids = (messages: Json[], model: string): string[] =>
      readPairs(messages, 'chat', model).map(({ id }) => id);
    for (const model of ['qwen3', 'mistral-large-latest']) {
      const all = ids(twice, model);
      assert.deepEqual(ids(twice.slice(0, 3), model), all.slice(0, 1));
      assert.deepEqual(
        ids([...twice, asks(call('bash:0_2', 3)), says('bash:0_2', 'three')], model).slice(0, 2),
        all,
      );
    }
  });

  test('Mistral gets nine letters or digits, the same for a call and its result', () => {
    for (const model of [
      'mistral-large-latest',
      'mistralai/devstral-medium',
      'codestral-2508',
      'open-mixtral-8x22b',
    ])
      for (const messages of [twice, within, without]) {
        const pairs = readPairs(messages, 'chat', model);
        for (const { id } of pairs) assert.match(id, /^[a-zA-Z0-9]{9}$/);
        assert.deepEqual(
          pairs.map(({ said }) => said),
          ['one', 'two'],
        );
      }
    const own = readPairs([hi, asks(call('aB3xK9mP2', 1)), says('aB3xK9mP2', 'one')], 'chat', 'ministral-8b');
    assert.equal(own[0]!.id, 'aB3xK9mP2');
    assert.equal(readPairs(twice, 'chat', 'qwen3')[0]!.id, 'bash:0');
  });

  test('Mistral gets no user text right after a result, and a prefix mark on an answer to continue', () => {
    const body = asMessages([hi, asks(call('a', 1)), says('a', 'one'), { role: 'user', content: 'more' }]);
    const roles = exchange('messages', 'chat', body, 'mistral-small').sent.messages.map(
      ({ role }: Json) => role,
    );
    assert.deepEqual(roles, ['user', 'assistant', 'tool', 'assistant', 'user']);
    const prefilled = { max_tokens: 9, messages: [hi, { role: 'assistant', content: '{' }] };
    const { messages } = exchange('messages', 'chat', prefilled, 'mistral-small').sent;
    assert.deepEqual(messages.at(-1), { role: 'assistant', content: '{', prefix: true });
  });

  test('long ids are shortened to what OpenAI accepts', () => {
    const id = `call_${'x'.repeat(50)}`;
    for (const [to, most] of [
      ['chat', 40],
      ['responses', 64],
    ] as const) {
      const [pair] = readPairs([hi, asks(call(id, 1)), says(id, 'one')], to);
      assert.ok(pair!.id.length <= most, pair!.id);
      assert.equal(pair!.said, 'one');
    }
  });

  test('a result whose call is gone is sent as user text', () => {
    for (const to of ['responses', 'messages', 'gemini'] as const) {
      const { sent } = exchange('chat', to, { messages: [hi, says('gone', 'forty-two')] });
      const text = JSON.stringify(sent);
      assert.match(text, /Result of an earlier call/);
      assert.match(text, /forty-two/);
      assert.doesNotMatch(text, /tool_result|function_call_output|functionResponse/);
    }
    const twice = [hi, asks(call('a', 1)), says('a', 'one'), says('a', 'other')];
    assert.equal(readPairs(twice, 'messages')[0]!.said, 'one');
    assert.match(JSON.stringify(exchange('chat', 'messages', { messages: twice }).sent), /other/);
  });

  test('an answer has ids that no call of the conversation has, in a stream and whole', () => {
    const body = asMessages(twice);
    const tool_calls = [call('bash:0', 3), { ...call('bash:0', 4), index: 1 }];
    const { content } = exchange('messages', 'chat', body).answer({
      choices: [{ message: { tool_calls }, finish_reason: 'tool_calls' }],
    });
    const streamed: Json[] = parseEvents(
      exchange('messages', 'chat', body).stream([
        {
          choices: [
            { index: 0, delta: { tool_calls: tool_calls.map((each, index) => ({ ...each, index })) } },
          ],
        },
        { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
        '[DONE]',
      ]),
    );
    const blocks = streamed.flatMap(({ content_block: block }) => (block === undefined ? [] : [block]));
    for (const calls of [content, blocks]) {
      const ids = calls.map(({ id }: Json) => id);
      assert.equal(ids.length, 2);
      assert.equal(new Set(['bash:0', ...ids]).size, 3);
    }
  });
});
