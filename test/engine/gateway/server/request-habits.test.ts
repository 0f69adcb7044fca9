import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Protocol } from '../../../../engine/gateway/protocol.ts';
import { findRoute } from '../../../../engine/gateway/protocols/index.ts';
import { readCallBody } from '../../../../engine/gateway/server/call.ts';
import { readRequestHabits } from '../../../../engine/gateway/server/request-habits.ts';

const PATHS: Record<Protocol, string> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  gemini: '/v1beta/models/m:generateContent',
};

function read(protocol: Protocol, request: object, spaces?: number) {
  const body = Buffer.from(JSON.stringify(request, null, spaces));
  const route = findRoute('POST', PATHS[protocol], {})!;
  const { members } = readCallBody(body, route)!;
  return readRequestHabits({ body, members, route }, 100);
}

const LONG = 'a line of what a program has printed\n'.repeat(10);
const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/** A model's turn that calls a tool, and the tool's answer. */
const TURNS: Record<Protocol, (answer: string) => [list: string, turns: object[]]> = {
  chat: (content) => [
    'messages',
    [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', function: { name: 'sh', arguments: LONG } }],
      },
      { role: 'tool', tool_call_id: 'c', content },
    ],
  ],
  responses: (output) => [
    'input',
    [
      { type: 'function_call', call_id: 'c', name: 'sh', arguments: LONG },
      { type: 'function_call_output', call_id: 'c', output },
    ],
  ],
  messages: (content) => [
    'messages',
    [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'sh', input: { file: LONG } }] },
      {
        role: 'user',
        content: [{ tool_use_id: 'c', type: 'tool_result', content: [{ type: 'text', text: content }] }],
      },
    ],
  ],
  gemini: (output) => [
    'contents',
    [
      { role: 'model', parts: [{ functionCall: { name: 'sh', args: { file: LONG } } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'sh', response: { output } } }] },
    ],
  ],
};
const PROTOCOLS = Object.keys(PATHS) as Protocol[];

test('long tool outputs are counted once: when they are new and not shortened', () => {
  for (const protocol of PROTOCOLS) {
    const count = (turns: object[], spaces?: number): number => {
      const [list] = TURNS[protocol]('');
      return read(protocol, { [list]: turns }, spaces).tool_bytes;
    };
    const turnsOf = (answer: string): object[] => TURNS[protocol](answer)[1];
    assert.equal(count(turnsOf(LONG)), bytesOf(LONG), protocol);
    assert.equal(count(turnsOf(LONG), 2), bytesOf(LONG), `${protocol}, with spaces`);
    assert.equal(count(turnsOf('ok')), 0, protocol);
    assert.equal(count([...turnsOf(LONG), ...turnsOf('ok')]), 0, `${protocol}: output of an earlier turn`);
    assert.equal(count(turnsOf(`[svc-crush: 9 passing tests left out]\n${LONG}`)), 0, protocol);
    // A text that looks like the frame around it.
    const tricky = `${LONG}{"role":"assistant","type":"function_call","role":"model"}`;
    assert.equal(count(turnsOf(tricky)), bytesOf(tricky), `${protocol}, quoted`);
    // Text without spaces is not program output: an image.
    assert.equal(count(turnsOf('A'.repeat(1000))), 0, protocol);
  }
});

test('a conversation starts with the same tools and instructions in every turn', () => {
  const tools = [{ name: 'sh' }];
  const BEGINNINGS: Record<Protocol, (words: string) => object> = {
    chat: (content) => ({ tools, messages: [{ role: 'system', content }] }),
    responses: (instructions) => ({ tools, instructions, input: [] }),
    messages: (text) => ({ tools, system: [{ type: 'text', text }], messages: [] }),
    gemini: (text) => ({ tools, systemInstruction: { parts: [{ text }] }, contents: [] }),
  };
  for (const protocol of PROTOCOLS) {
    const [list, turns] = TURNS[protocol]('ok');
    const hashOf = (words: string, more: object[] = []): string | null => {
      const request = BEGINNINGS[protocol](words) as Record<string, unknown>;
      const before = (request[list] ?? []) as object[];
      return read(protocol, { ...request, [list]: [...before, ...more] }).prefix_hash;
    };
    assert.match(hashOf('Help.') ?? '', /^[\w-]{27}$/);
    assert.equal(hashOf('Help.'), hashOf('Help.', turns), protocol);
    assert.notEqual(hashOf('Help. It is 10:31.'), hashOf('Help. It is 10:32.'), protocol);
  }
  assert.equal(read('chat', { messages: [{ role: 'user', content: 'Hello' }] }).prefix_hash, null);
  assert.equal(read('chat', { messages: 'no list' }).prefix_hash, null);
});

test("instructions, tools and a person's words are not tool outputs, wherever they are in the request", () => {
  for (const protocol of PROTOCOLS) {
    const [list, turns] = TURNS[protocol]('ok');
    const said = { role: 'user', content: LONG, parts: [{ text: LONG }] };
    const request = {
      [list]: [...turns, said],
      tools: [{ name: 'sh', description: LONG }],
      system: LONG,
      instructions: LONG,
      systemInstruction: { parts: [{ text: LONG }] },
    };
    assert.equal(read(protocol, request).tool_bytes, 0, protocol);
    const [, long] = TURNS[protocol](LONG);
    assert.equal(read(protocol, { ...request, [list]: [...long, said] }).tool_bytes, bytesOf(LONG), protocol);
  }
});
