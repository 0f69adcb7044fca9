import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json } from '../../../support/gateway/plain-protocols.ts';
import { exchange, parseEvents } from '../../../support/gateway/translated.ts';

const EPHEMERAL = { type: 'ephemeral' };

/** A request of Claude Code in the middle of its loop. */
const claudeRequest = (): Json => ({
  model: 'claude-asked',
  max_tokens: 32000,
  stream: true,
  system: [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.329; cch=1a2b3;' },
    { type: 'text', text: 'You are Claude Code.', cache_control: EPHEMERAL },
    { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } },
  ],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'look at a.ts', cache_control: EPHEMERAL }] },
    { role: 'system', content: 'Deferred tools: Edit', output_config: { effort: 'high' } },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'of Anthropic', signature: 'EqQBCkgIBxABGAIi' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { file_path: '/a.ts' } },
        { type: 'tool_use', id: 'toolu_2', name: 'ToolSearch', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [
            { type: 'text', text: 'a picture:' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
          ],
        },
        {
          type: 'tool_result',
          tool_use_id: 'toolu_2',
          content: [{ type: 'tool_reference', tool_name: 'Edit' }],
        },
        { type: 'text', text: 'go on' },
      ],
    },
    { role: 'system', content: [{ type: 'text', text: 'The date has changed.' }] },
  ],
  tools: [
    {
      name: 'Read',
      description: 'Reads.',
      input_schema: { type: 'object', properties: { file_path: { type: 'string' } } },
    },
    { name: 'Edit', input_schema: { type: 'object', properties: {} }, defer_loading: true },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 8 },
  ],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  thinking: { type: 'adaptive' },
  output_config: { effort: 'high' },
  context_management: { edits: [] },
  metadata: { user_id: '{"device":"d"}' },
  temperature: 1,
});

describe('Claude Code', () => {
  test("Claude Code's request arrives at a chat provider", () => {
    const { sent } = exchange('messages', 'chat', claudeRequest(), 'qwen3');
    assert.deepEqual(sent, {
      model: 'qwen3',
      messages: [
        { role: 'system', content: 'You are Claude Code.\n\nBe brief.\n\nDeferred tools: Edit' },
        { role: 'user', content: 'look at a.ts' },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [
            {
              id: 'toolu_1',
              type: 'function',
              function: { name: 'Read', arguments: '{"file_path":"/a.ts"}' },
            },
            { id: 'toolu_2', type: 'function', function: { name: 'ToolSearch', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'a picture:' },
        { role: 'tool', tool_call_id: 'toolu_2', content: 'The tool Edit can be called now.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Content of the result of call toolu_1:' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
            { type: 'text', text: 'go on' },
            { type: 'text', text: '<system-reminder>\nThe date has changed.\n</system-reminder>' },
          ],
        },
      ],
      tools: [
        {
          type: 'function',
          function: {
            name: 'Read',
            description: 'Reads.',
            parameters: { type: 'object', properties: { file_path: { type: 'string' } } },
          },
        },
        { type: 'function', function: { name: 'Edit', parameters: { type: 'object', properties: {} } } },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      max_tokens: 32000,
      temperature: 1,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test("Claude Code's request for an OpenAI reasoning model has the effort and no temperature", () => {
    const { sent } = exchange('messages', 'responses', claudeRequest(), 'gpt-5.2');
    assert.deepEqual(sent.reasoning, { effort: 'high', summary: 'auto' });
    assert.deepEqual(sent.include, ['reasoning.encrypted_content']);
    assert.equal(sent.max_output_tokens, 32000);
    assert.equal(sent.store, false);
    for (const field of ['temperature', 'metadata', 'context_management', 'thinking'])
      assert.ok(!(field in sent), field);
    const late = sent.input.at(-1);
    assert.deepEqual(late, {
      type: 'message',
      role: 'developer',
      content: [{ type: 'input_text', text: 'The date has changed.' }],
    });
    const [output] = sent.input.filter((item: Json) => item.type === 'function_call_output');
    assert.deepEqual(output.output, [
      { type: 'input_text', text: 'a picture:' },
      { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' },
    ]);
  });

  test('the start of the conversation stays the same while it grows', () => {
    const later = claudeRequest();
    later.messages.push(
      { role: 'assistant', content: 'done' },
      { role: 'system', content: 'Something new.' },
      { role: 'user', content: 'thanks' },
    );
    const { messages: before } = exchange('messages', 'chat', claudeRequest()).sent;
    const { messages: after } = exchange('messages', 'chat', later).sent;
    assert.deepEqual(after.slice(0, before.length), before);
  });

  test('a request for a web search alone is refused, not answered without one', () => {
    const body = { ...claudeRequest(), tools: [{ type: 'web_search_20250305', name: 'web_search' }] };
    assert.throws(() => exchange('messages', 'chat', body), {
      code: 'fields_invalid',
      data: { field: 'tools[0]' },
    });
  });

  test("Claude Code's stream has the events in order, with `{}` for a call without arguments", () => {
    const { stream } = exchange('messages', 'chat', claudeRequest(), 'qwen3');
    const chunk = (delta: Json, finish_reason: string | null = null): Json => ({
      id: 'chatcmpl-7',
      model: 'qwen3:8b',
      choices: [{ index: 0, delta, finish_reason }],
    });
    const events = stream([
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'hm' }),
      chunk({ content: 'Hel' }),
      chunk({ content: 'lo' }),
      chunk({
        tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'Read', arguments: '' } }],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"file_' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: 'path":"/a"}' } }] }),
      chunk({
        tool_calls: [{ index: 1, id: 'c2', type: 'function', function: { name: 'Edit', arguments: '' } }],
      }),
      chunk({}, 'tool_calls'),
      {
        choices: [],
        usage: { prompt_tokens: 30, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 20 } },
      },
      '[DONE]',
    ]);
    for (const { event, data } of events) assert.equal(event, JSON.parse(data).type);
    const told = parseEvents(events);
    assert.deepEqual(
      told.map(({ type, index, delta }) =>
        [type, index, delta?.type].filter((each) => each !== undefined).join(' '),
      ),
      [
        'message_start',
        'content_block_start 0',
        'content_block_delta 0 thinking_delta',
        'content_block_delta 0 signature_delta',
        'content_block_stop 0',
        'content_block_start 1',
        'content_block_delta 1 text_delta',
        'content_block_delta 1 text_delta',
        'content_block_stop 1',
        'content_block_start 2',
        'content_block_delta 2 input_json_delta',
        'content_block_delta 2 input_json_delta',
        'content_block_stop 2',
        'content_block_start 3',
        'content_block_delta 3 input_json_delta',
        'content_block_stop 3',
        'message_delta',
        'message_stop',
      ],
    );
    assert.equal(told[0].message.model, 'qwen3:8b');
    assert.equal(told[0].message.id, 'msg_chatcmpl-7');
    assert.deepEqual(told[13].content_block, {
      type: 'tool_use',
      id: 'c2',
      name: 'Edit',
      input: {},
      caller: { type: 'direct' },
    });
    assert.equal(told[14].delta.partial_json, '{}');
    const end = told.at(-2);
    assert.equal(end.delta.stop_reason, 'tool_use');
    assert.deepEqual(
      [end.usage.input_tokens, end.usage.cache_read_input_tokens, end.usage.output_tokens],
      [10, 20, 9],
    );
  });
});
