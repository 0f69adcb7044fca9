import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json } from '../../../support/gateway/plain-protocols.ts';
import { exchange, parseEvents } from '../../../support/gateway/translated.ts';

/** A request of Gemini CLI in the middle of its loop: without ids, and with Google's own schemas. */
const geminiRequest = (): Json => ({
  stream: true,
  systemInstruction: { role: 'user', parts: [{ text: 'You are an agent.' }] },
  contents: [
    { role: 'user', parts: [{ text: 'context' }] },
    { role: 'user', parts: [{ text: 'read both' }] },
    {
      role: 'model',
      parts: [
        { text: 'thoughts', thought: true },
        { functionCall: { name: 'read', args: { path: 'a' } }, thoughtSignature: 'of Google' },
        { functionCall: { name: 'read', args: { path: 'b' } } },
        { functionCall: { name: 'list' } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'read', response: { output: 'A' } } },
        { functionResponse: { name: 'list', response: { error: 'no folder' } } },
        { functionResponse: { name: 'read', response: { lines: 2, text: 'B' } } },
      ],
    },
  ],
  tools: [
    {
      functionDeclarations: [
        {
          name: 'read',
          description: 'Reads.',
          parameters: {
            type: 'OBJECT',
            properties: {
              path: { type: 'STRING', nullable: true },
              lines: { type: 'ARRAY', minItems: '1', items: { type: 'INTEGER' } },
              type: { type: 'STRING', enum: ['OBJECT'] },
            },
            required: ['path'],
          },
        },
        { name: 'list', parametersJsonSchema: { type: 'object', properties: {} } },
      ],
    },
  ],
  toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['read', 'list'] } },
  generationConfig: {
    temperature: 1,
    topP: 0.95,
    topK: 64,
    maxOutputTokens: 100,
    stopSequences: ['END'],
    seed: 7,
    thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 },
  },
});

describe('Gemini CLI', () => {
  test("Gemini CLI's request arrives at a chat provider", () => {
    const { sent } = exchange('gemini', 'chat', geminiRequest(), 'qwen3');
    const call = (id: string, name: string, args: string): Json => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    });
    assert.deepEqual(sent.messages, [
      { role: 'system', content: 'You are an agent.' },
      { role: 'user', content: 'context\n\nread both' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          call('call_0', 'read', '{"path":"a"}'),
          call('call_1', 'read', '{"path":"b"}'),
          call('call_2', 'list', '{}'),
        ],
      },
      { role: 'tool', tool_call_id: 'call_0', content: 'A' },
      { role: 'tool', tool_call_id: 'call_2', content: 'Error: no folder' },
      { role: 'tool', tool_call_id: 'call_1', content: '{"lines":2,"text":"B"}' },
    ]);
    assert.deepEqual(sent.tools[0].function.parameters, {
      type: 'object',
      properties: {
        path: { type: ['string', 'null'] },
        lines: { type: 'array', minItems: 1, items: { type: 'integer' } },
        type: { type: 'string', enum: ['OBJECT'] },
      },
      required: ['path'],
    });
    assert.equal(sent.tool_choice, 'required');
    assert.equal(sent.tools.length, 2);
    assert.deepEqual(
      [sent.temperature, sent.top_p, sent.max_tokens, sent.stop, sent.seed, sent.stream],
      [1, 0.95, 100, ['END'], 7, true],
    );
    assert.ok(!('top_k' in sent));
  });

  test('the wire names of its other client, with underscores, are equivalent', () => {
    const snake = {
      system_instruction: { parts: [{ text: 'S' }] },
      contents: [{ role: 'user', parts: [{ inline_data: { mime_type: 'image/png', data: 'aGk=' } }] }],
      tools: [{ function_declarations: [{ name: 'f' }] }],
      tool_config: { function_calling_config: { mode: 'NONE' } },
      generation_config: { max_output_tokens: 5 },
    };
    const { sent } = exchange('gemini', 'messages', snake, 'claude-sonnet-4-5');
    assert.deepEqual(sent.system, [{ type: 'text', text: 'S' }]);
    assert.equal(sent.messages[0].content[0].source.data, 'aGk=');
    assert.deepEqual(sent.tool_choice, { type: 'none' });
    assert.equal(sent.max_tokens, 5);
  });

  test('a request for JSON keeps its schema', () => {
    const schema = { type: 'OBJECT', properties: { model: { type: 'STRING' } } };
    const body = {
      contents: [{ role: 'user', parts: [{ text: 'which?' }] }],
      generationConfig: { responseMimeType: 'application/json', responseSchema: schema },
    };
    const expected = { type: 'object', properties: { model: { type: 'string' } } };
    assert.deepEqual(exchange('gemini', 'chat', body).sent.response_format, {
      type: 'json_schema',
      json_schema: { name: 'answer', schema: expected },
    });
    assert.deepEqual(exchange('gemini', 'responses', body).sent.text.format, {
      type: 'json_schema',
      name: 'answer',
      schema: expected,
    });
    assert.deepEqual(exchange('gemini', 'messages', body).sent.output_config.format, {
      type: 'json_schema',
      schema: { ...expected, additionalProperties: false },
    });
  });

  test("Gemini CLI's stream has whole calls, with arguments as an object, and one end with the usage", () => {
    const events = exchange('gemini', 'chat', geminiRequest(), 'qwen3').stream([
      {
        id: 'x',
        model: 'qwen3',
        choices: [{ index: 0, delta: { reasoning: 'hm' } }],
        usage: { prompt_tokens: 1 },
      },
      { id: 'x', choices: [{ index: 0, delta: { content: 'Hi' } }], usage: { prompt_tokens: 3 } },
      {
        id: 'x',
        choices: [
          {
            index: 0,
            delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'list', arguments: '' } }] },
          },
        ],
      },
      {
        id: 'x',
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        usage: { prompt_tokens: 3, completion_tokens: 4 },
      },
      '[DONE]',
    ]);
    const told = parseEvents(events);
    assert.deepEqual(
      told.map(({ candidates: [{ content }] }) => content.parts[0]),
      [
        { text: 'hm', thought: true },
        { text: 'Hi' },
        {
          functionCall: { id: 'c', name: 'list', args: {} },
          thoughtSignature: told[2].candidates[0].content.parts[0].thoughtSignature,
        },
        { text: '' },
      ],
    );
    assert.deepEqual(told.at(-1).usageMetadata, {
      promptTokenCount: 3,
      candidatesTokenCount: 4,
      totalTokenCount: 7,
    });
    assert.deepEqual(
      told.map(({ candidates: [{ finishReason }] }) => finishReason),
      [undefined, undefined, undefined, 'STOP'],
    );
  });

  test('a call whose arguments are not an object is an error, and is left out when the limit cut it off', () => {
    const call = { index: 0, id: 'c', function: { name: 'list', arguments: '{"a":' } };
    const ended = (reason: string): Json[] => [
      { choices: [{ index: 0, delta: { tool_calls: [call] } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: reason }] },
      '[DONE]',
    ];
    const told = parseEvents(exchange('gemini', 'chat').stream(ended('tool_calls')));
    assert.equal(told.at(-1).error.status, 'INTERNAL');
    const cut = parseEvents(exchange('gemini', 'chat').stream(ended('length')));
    assert.equal(cut.at(-1).candidates[0].finishReason, 'MAX_TOKENS');
    assert.ok(cut.every(({ candidates }) => candidates[0].content.parts[0].functionCall === undefined));
  });
});
