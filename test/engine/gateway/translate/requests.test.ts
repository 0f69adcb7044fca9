import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Protocol } from '../../../../engine/gateway/protocol.ts';
import { type Json, PROTOCOLS } from '../../../support/gateway/plain-protocols.ts';
import { exchange } from '../../../support/gateway/translated.ts';

const hi = [{ role: 'user', content: 'hi' }];
const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } };
const sentTo = (to: Protocol, body: Json, model = 'm'): Json =>
  exchange('chat', to, { messages: hi, ...body }, model).sent;

describe('translated requests', () => {
  test('the token limit has the name that the model knows', () => {
    const named = (model: string): Json =>
      exchange('messages', 'chat', { max_tokens: 9, messages: hi }, model).sent;
    for (const model of ['gpt-5', 'o3-mini', 'openai/gpt-5.2', 'gpt-oss:20b'])
      assert.equal(named(model).max_completion_tokens, 9);
    for (const model of ['gpt-4o', 'qwen3', 'mistral-large', 'llama3'])
      assert.equal(named(model).max_tokens, 9);
    assert.equal(sentTo('messages', {}).max_tokens, 32000);
  });

  test('temperature and related options are sent where the model takes them', () => {
    const sampling = { temperature: 1.7, top_p: 0.5 };
    const old = sentTo('messages', sampling, 'claude-sonnet-4-5-20250929');
    assert.deepEqual([old.temperature, old.top_p], [1, undefined]);
    assert.equal(sentTo('messages', { top_p: 0.5 }, 'claude-sonnet-4-5').top_p, 0.5);
    for (const model of ['claude-opus-4-7', 'claude-sonnet-5-5', 'claude-fable-5'])
      assert.ok(!('temperature' in sentTo('messages', sampling, model)), model);
    assert.equal(sentTo('messages', sampling, 'kimi-k2').temperature, 1);
    assert.equal(sentTo('gemini', sampling).generationConfig.temperature, 1.7);
    assert.equal(sentTo('responses', sampling, 'gpt-5').temperature, 1.7);
  });

  test("a thinking effort has each provider's own form", () => {
    const body = { reasoning_effort: 'high', max_tokens: 20000 };
    assert.deepEqual(sentTo('messages', body, 'claude-opus-4-8').output_config, { effort: 'high' });
    assert.equal(sentTo('messages', body, 'claude-opus-4-8').thinking.type, 'adaptive');
    assert.deepEqual(sentTo('messages', body, 'claude-haiku-4-5').thinking, {
      type: 'enabled',
      budget_tokens: 16384,
    });
    assert.deepEqual(
      sentTo('messages', { ...body, max_tokens: 4000 }, 'claude-haiku-4-5').thinking.budget_tokens,
      2976,
    );
    assert.ok(!('thinking' in sentTo('messages', { ...body, max_tokens: 1500 }, 'claude-haiku-4-5')));
    assert.deepEqual(sentTo('gemini', body, 'gemini-3-pro').generationConfig.thinkingConfig, {
      includeThoughts: true,
      thinkingLevel: 'HIGH',
    });
    assert.equal(
      sentTo('gemini', body, 'gemini-2.5-pro').generationConfig.thinkingConfig.thinkingBudget,
      16384,
    );
    assert.ok(!('thinkingConfig' in sentTo('gemini', body, 'gemini-2.0-flash').generationConfig));
    assert.deepEqual(sentTo('responses', body, 'gpt-5').reasoning, { effort: 'high', summary: 'auto' });
    assert.ok(!('reasoning' in sentTo('responses', body, 'gpt-4o')));
    const forced = { ...body, tools: [tool], tool_choice: 'required' };
    assert.ok(!('thinking' in sentTo('messages', forced, 'claude-opus-4-8')));
  });

  test('an effort of another protocol becomes one that every OpenAI reasoning model knows', () => {
    const asked = (effort: string): Json => ({ max_tokens: 9, messages: hi, output_config: { effort } });
    const told = (effort: string): string =>
      exchange('messages', 'chat', asked(effort), 'gpt-5').sent.reasoning_effort;
    assert.deepEqual(['low', 'high', 'xhigh', 'max'].map(told), ['low', 'high', 'high', 'high']);
    const off = { max_tokens: 9, messages: hi, thinking: { type: 'disabled' } };
    assert.ok(!('reasoning_effort' in exchange('messages', 'chat', off, 'gpt-5').sent));
    assert.equal(sentTo('responses', { reasoning_effort: 'xhigh' }, 'gpt-5').reasoning.effort, 'xhigh');
    const claude = (model: string): Json =>
      sentTo('messages', { reasoning_effort: 'xhigh' }, model).output_config.effort;
    assert.deepEqual([claude('claude-opus-4-6'), claude('claude-opus-4-8')], ['high', 'xhigh']);
  });

  test('a field of the other protocol, sent by a caller that does not know it, is ignored', () => {
    const body = {
      input: 'q',
      messages: [],
      n: 3,
      functions: [{}],
      max_tokens: 1,
      stream_options: {},
      brand_new: 1,
    };
    assert.deepEqual(exchange('responses', 'chat', body).sent, {
      model: 'm',
      messages: [{ role: 'user', content: 'q' }],
      brand_new: 1,
    });
    const strange = {
      messages: hi,
      input: 'x',
      instructions: 'y',
      previous_response_id: 'r',
      background: true,
    };
    const { sent } = exchange('chat', 'responses', strange);
    assert.deepEqual(Object.keys(sent).sort(), ['input', 'model', 'store']);
    assert.equal(sent.input[0].content[0].text, 'hi');
  });

  test('the choice of a tool is translated', () => {
    const choose = (to: Protocol, tool_choice: Json): Json => sentTo(to, { tools: [tool], tool_choice });
    const named = { type: 'function', function: { name: 'f' } };
    assert.deepEqual(choose('messages', 'auto').tool_choice, { type: 'auto' });
    assert.deepEqual(choose('messages', 'required').tool_choice, { type: 'any' });
    assert.deepEqual(choose('messages', 'none').tool_choice, { type: 'none' });
    assert.deepEqual(choose('messages', named).tool_choice, { type: 'tool', name: 'f' });
    assert.deepEqual(choose('responses', named).tool_choice, { type: 'function', name: 'f' });
    assert.deepEqual(choose('gemini', named).toolConfig.functionCallingConfig, {
      mode: 'ANY',
      allowedFunctionNames: ['f'],
    });
    assert.deepEqual(choose('gemini', 'none').toolConfig.functionCallingConfig, { mode: 'NONE' });
    assert.ok(!('tool_choice' in sentTo('messages', { tool_choice: 'auto' })));
    const one = sentTo('messages', { tools: [tool], parallel_tool_calls: false });
    assert.deepEqual(one.tool_choice, { type: 'auto', disable_parallel_tool_use: true });
  });

  test('only allowed tools are offered', () => {
    const other = { type: 'function', function: { name: 'g' } };
    const tool_choice = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [other] } };
    const { tools, tool_choice: choice } = sentTo('messages', { tools: [tool, other], tool_choice });
    assert.deepEqual(
      tools.map(({ name }: Json) => name),
      ['g'],
    );
    assert.deepEqual(choice, { type: 'any' });
  });

  test('tools without arguments and strict tools are translated', () => {
    const bare = { type: 'function', function: { name: 'g', strict: true } };
    assert.deepEqual(sentTo('messages', { tools: [bare] }).tools, [
      {
        name: 'g',
        input_schema: { type: 'object', properties: {}, additionalProperties: false },
        strict: true,
      },
    ]);
    assert.deepEqual(sentTo('responses', { tools: [bare] }).tools, [
      {
        type: 'function',
        name: 'g',
        parameters: { type: 'object', properties: {}, additionalProperties: false },
        strict: true,
      },
    ]);
    assert.equal(sentTo('responses', { tools: [tool] }).tools[0].strict, false);
    assert.deepEqual(sentTo('gemini', { tools: [bare] }).tools, [{ functionDeclarations: [{ name: 'g' }] }]);
  });

  test('a tool that takes one text is native for responses, and an object elsewhere', () => {
    const format = { type: 'grammar', grammar: { syntax: 'regex', definition: 'a+' } };
    const custom = { type: 'custom', custom: { name: 'patch', description: 'P.', format } };
    const called = { id: 'c', type: 'custom', custom: { name: 'patch', input: 'aaa' } };
    const messages = [
      ...hi,
      { role: 'assistant', tool_calls: [called] },
      { role: 'tool', tool_call_id: 'c', content: 'ok' },
    ];
    const body = { messages, tools: [custom] };
    const { tools, input } = exchange('chat', 'responses', body).sent;
    assert.deepEqual(tools, [
      {
        type: 'custom',
        name: 'patch',
        description: 'P.',
        format: { type: 'grammar', syntax: 'regex', definition: 'a+' },
      },
    ]);
    assert.deepEqual(input.slice(1), [
      { type: 'custom_tool_call', call_id: 'c', name: 'patch', input: 'aaa' },
      { type: 'custom_tool_call_output', call_id: 'c', output: 'ok' },
    ]);
    const wrapped = exchange('chat', 'messages', body);
    assert.deepEqual(wrapped.sent.messages[1].content[0].input, { input: 'aaa' });
    const answer = wrapped.answer({
      content: [{ type: 'tool_use', id: 't', name: 'patch', input: { input: 'bbb' } }],
      stop_reason: 'tool_use',
    });
    assert.deepEqual(answer.choices[0].message.tool_calls, [
      { id: 't', type: 'custom', custom: { name: 'patch', input: 'bbb' } },
    ]);
  });

  test('names that the provider does not accept return in their original form', () => {
    const names = ['a.b', 'a_b', 'ö', 'x'.repeat(70), `${'x'.repeat(70)}y`, '1st'];
    const asked = { input: 'q', tools: names.map((name) => ({ type: 'function', name })) };
    for (const to of PROTOCOLS.filter((each) => each !== 'responses')) {
      const { sent, translation } = exchange('responses', to, asked);
      const told: string[] = (sent.tools[0].functionDeclarations ?? sent.tools).map(
        ({ name, function: definition }: Json) => name ?? definition.name,
      );
      assert.equal(new Set(told).size, names.length, to);
      for (const [index, name] of told.entries()) {
        assert.match(name, to === 'messages' ? /^[\w-]{1,128}$/ : /^[\w-]{1,64}$/);
        if (to === 'gemini') assert.match(name, /^[a-z_]/i);
        const call = { id: 'c', function: { name, arguments: '{}' } };
        const answers: Record<string, Json> = {
          chat: { choices: [{ message: { tool_calls: [call] }, finish_reason: 'tool_calls' }] },
          messages: { content: [{ type: 'tool_use', id: 'c', name, input: {} }], stop_reason: 'tool_use' },
          gemini: {
            candidates: [{ content: { parts: [{ functionCall: { name } }] }, finishReason: 'STOP' }],
          },
        };
        const { output }: Json = translation.response(answers[to]);
        assert.equal(output.at(-1).name, names[index]);
      }
    }
  });

  test('a namespace that the name already has is not added again', () => {
    const inner = { type: 'function', name: 'mcp__a__x', parameters: {} };
    const body = {
      input: 'q',
      tools: [{ type: 'namespace', name: 'mcp__a', tools: [inner, { ...inner, name: 'y' }] }],
    };
    const { sent, answer } = exchange('responses', 'chat', body);
    assert.deepEqual(
      sent.tools.map((each: Json) => each.function.name),
      ['mcp__a__x', 'mcp__a__y'],
    );
    const call = (name: string): Json => ({ id: 'c', function: { name, arguments: '{}' } });
    const message = { tool_calls: [call('mcp__a__x'), call('mcp__a__y')] };
    const { output } = answer({ choices: [{ message, finish_reason: 'tool_calls' }] });
    assert.deepEqual(
      output.map(({ name, namespace }: Json) => [namespace, name]),
      [
        ['mcp__a', 'mcp__a__x'],
        ['mcp__a', 'y'],
      ],
    );
  });

  test('ids that the provider does not accept are the same for the call and for its result', () => {
    const id = 'functions.shell:0';
    const messages = [
      ...hi,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, function: { name: 'f', arguments: 'no JSON' } }],
      },
      { role: 'tool', tool_call_id: id, content: '' },
    ];
    const [
      ,
      {
        content: [use],
      },
      {
        content: [result],
      },
    ] = exchange('chat', 'messages', { messages }).sent.messages;
    assert.match(use.id, /^toolu_[0-9a-f]{24}$/);
    assert.equal(result.tool_use_id, use.id);
    assert.deepEqual(use.input, { unreadable_arguments: 'no JSON' });
    const long = exchange('chat', 'responses', {
      messages: JSON.parse(JSON.stringify(messages).replaceAll(id, 'i'.repeat(80))),
    });
    const [, call, output] = long.sent.input;
    assert.ok(call.call_id.length <= 64);
    assert.equal(output.call_id, call.call_id);
  });

  test('images are sent by their address', () => {
    const url = 'https://x.test/a.jpg';
    const body = {
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url, detail: 'low' } }] }],
    };
    assert.deepEqual(exchange('chat', 'messages', body).sent.messages[0].content[0].source, {
      type: 'url',
      url,
    });
    assert.deepEqual(exchange('chat', 'responses', body).sent.input[0].content[0], {
      type: 'input_image',
      image_url: url,
      detail: 'low',
    });
    assert.deepEqual(exchange('chat', 'gemini', body).sent.contents[0].parts[0].fileData, {
      fileUri: url,
      mimeType: 'image/jpeg',
    });
  });

  test('documents are translated', () => {
    const source = { type: 'base64', media_type: 'application/pdf', data: 'aGk=' };
    const body = {
      max_tokens: 5,
      messages: [{ role: 'user', content: [{ type: 'document', source, title: 'a.pdf' }] }],
    };
    assert.deepEqual(exchange('messages', 'chat', body).sent.messages[0].content[0], {
      type: 'file',
      file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' },
    });
    assert.equal(exchange('messages', 'responses', body).sent.input[0].content[0].filename, 'a.pdf');
    assert.equal(
      exchange('messages', 'gemini', body).sent.contents[0].parts[0].inlineData.mimeType,
      'application/pdf',
    );
  });

  test('a JSON answer format is translated', () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false };
    const response_format = { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } };
    assert.deepEqual(sentTo('responses', { response_format }).text, {
      format: { type: 'json_schema', name: 'n', schema, strict: true },
    });
    assert.deepEqual(sentTo('messages', { response_format }).output_config, {
      format: { type: 'json_schema', schema },
    });
    const { generationConfig } = sentTo('gemini', { response_format });
    assert.deepEqual(generationConfig, { responseMimeType: 'application/json', responseJsonSchema: schema });
    const any = { response_format: { type: 'json_object' } };
    assert.match(sentTo('messages', any).system[0].text, /JSON/);
    assert.deepEqual(sentTo('responses', any).text, { format: { type: 'json_object' } });
    assert.deepEqual(sentTo('gemini', any).generationConfig, { responseMimeType: 'application/json' });
  });

  test('the prompt of a loop is cached by Anthropic, as the other protocols do by themselves', () => {
    assert.deepEqual(sentTo('messages', { tools: [tool] }, 'claude-sonnet-5-5').cache_control, {
      type: 'ephemeral',
    });
    assert.ok(!('cache_control' in sentTo('messages', {}, 'claude-sonnet-5-5')));
    assert.ok(!('cache_control' in sentTo('messages', { tools: [tool] }, 'kimi-k2')));
  });

  test('a system prompt alone becomes a user turn where one is required', () => {
    const messages = [{ role: 'developer', content: 'Say hi.' }];
    assert.equal(exchange('chat', 'messages', { messages }).sent.messages[0].role, 'user');
    assert.equal(exchange('chat', 'gemini', { messages }).sent.contents[0].role, 'user');
    assert.equal(exchange('chat', 'responses', { messages }).sent.input[0].role, 'user');
  });

  test('half a character in a text is replaced', () => {
    for (const to of PROTOCOLS.filter((each) => each !== 'chat')) {
      const body = { messages: [{ role: 'user', content: 'a\ud83d' }] };
      assert.match(JSON.stringify(exchange('chat', to, body).sent), /a\ufffd/);
    }
  });

  test('the same request is always the same bytes, so that a prompt cache hits', () => {
    const body = { messages: hi, tools: [{ type: 'function', function: { name: 'a.b' } }, tool] };
    for (const to of PROTOCOLS.filter((each) => each !== 'chat'))
      assert.equal(JSON.stringify(sentTo(to, body)), JSON.stringify(sentTo(to, structuredClone(body))));
  });
});
