import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dropSealedReasoning, SEAL_MARK } from '../../../../engine/gateway/translate/index.ts';
import type { Json } from '../../../support/gateway/plain-protocols.ts';
import { exchange, parseEvents } from '../../../support/gateway/translated.ts';

const thinking = { type: 'thinking', thinking: 'let me see', signature: 'EqQB' };
const redacted = { type: 'redacted_thinking', data: 'secret' };
const messagesAnswer = {
  id: 'msg_1',
  content: [thinking, redacted, { type: 'tool_use', id: 't1', name: 'f', input: {} }],
  stop_reason: 'tool_use',
};
const CLAUDE = 'claude-sonnet-4-5';

/** Returns the part of an answer that clients of each protocol send again, with the result of its call. */
const REPLAYS: Record<string, (answer: Json) => Json> = {
  chat: ({ choices: [{ message }] }) => ({
    reasoning_effort: 'high',
    messages: [
      { role: 'user', content: 'go' },
      message,
      { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'r' },
    ],
    tools: [{ type: 'function', function: { name: 'f' } }],
  }),
  responses: ({ output }) => ({
    reasoning: { effort: 'high' },
    input: [
      { role: 'user', content: 'go' },
      ...output,
      { type: 'function_call_output', call_id: output.at(-1).call_id, output: 'r' },
    ],
    tools: [{ type: 'function', name: 'f' }],
  }),
  messages: ({ content }) => ({
    max_tokens: 32000,
    thinking: { type: 'enabled', budget_tokens: 16000 },
    messages: [
      { role: 'user', content: 'go' },
      { role: 'assistant', content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: content.at(-1).id, content: 'r' }] },
    ],
    tools: [{ name: 'f', input_schema: {} }],
  }),
  gemini: ({ candidates: [{ content }] }) => ({
    generationConfig: { thinkingConfig: { thinkingBudget: 16000 } },
    contents: [
      { role: 'user', parts: [{ text: 'go' }] },
      // Gemini CLI does not keep thoughts.
      { role: 'model', parts: content.parts.filter(({ thought }: Json) => thought !== true) },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'r' } } }] },
    ],
    tools: [{ functionDeclarations: [{ name: 'f' }] }],
  }),
};

describe('the reasoning of a model is returned to it', () => {
  for (const from of ['chat', 'responses', 'gemini'] as const)
    test(`reasoning from Anthropic returns through a client of ${from}, and to the same model only`, () => {
      const answer = exchange(from, 'messages', {}, CLAUDE).answer(messagesAnswer);
      const again = REPLAYS[from]!(answer);
      const { sent } = exchange(from, 'messages', again, CLAUDE);
      const [, assistant] = sent.messages;
      assert.deepEqual(assistant.content.slice(0, 2), [thinking, redacted]);
      assert.equal(sent.thinking.type, 'enabled');
      const other = exchange(from, 'messages', again, 'claude-haiku-4-5').sent;
      assert.deepEqual(
        other.messages[1].content.map(({ type }: Json) => type),
        ['tool_use'],
      );
      assert.ok(
        !('thinking' in other),
        'thinking cannot be requested if the thoughts before the calls are missing',
      );
      const third = from === 'chat' ? 'responses' : 'chat';
      assert.ok(!JSON.stringify(exchange(from, third, again, 'gpt-5').sent).includes('let me see'));
    });

  for (const from of ['chat', 'responses', 'messages'] as const)
    test(`reasoning from Gemini returns through a client of ${from}; calls of other models skip the check`, () => {
      const parts = [{ functionCall: { name: 'f', args: {} }, thoughtSignature: 'c2ln' }];
      const body = {
        candidates: [{ content: { parts }, finishReason: 'STOP' }],
        modelVersion: 'gemini-3-pro',
      };
      const answer = exchange(from, 'gemini', {}, 'gemini-3-pro').answer(body);
      const again = REPLAYS[from]!(answer);
      const signatureIn = (model: string): string =>
        exchange(from, 'gemini', again, model).sent.contents[1].parts[0].thoughtSignature;
      assert.equal(signatureIn('gemini-3-pro'), 'c2ln');
      assert.equal(signatureIn('gemini-3.5-flash'), 'skip_thought_signature_validator');
      assert.equal(signatureIn('gemini-2.5-pro'), undefined);
    });

  for (const from of ['chat', 'messages', 'gemini'] as const)
    test(`reasoning from OpenAI returns through a client of ${from}`, () => {
      const item = {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'so' }],
        encrypted_content: 'gAAA',
      };
      const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
      const answer = exchange(from, 'responses', {}, 'gpt-5').answer({
        status: 'completed',
        output: [item, call],
      });
      const again = REPLAYS[from]!(answer);
      assert.deepEqual(exchange(from, 'responses', again, 'gpt-5').sent.input[1], item);
      const other = exchange(from, 'responses', again, 'gpt-6').sent.input;
      assert.deepEqual(
        other.map(({ type }: Json) => type),
        ['message', 'function_call', 'function_call_output'],
      );
    });

  for (const from of ['responses', 'messages', 'gemini'] as const)
    test(`reasoning from a chat server returns through a client of ${from}, while its calls are answered`, () => {
      const message = {
        content: '',
        reasoning_content: 'so',
        tool_calls: [{ id: 'c', function: { name: 'f', arguments: '' } }],
      };
      const answer = exchange(from, 'chat', {}, 'deepseek').answer({
        choices: [{ message, finish_reason: 'tool_calls' }],
      });
      const again = REPLAYS[from]!(answer);
      assert.equal(exchange(from, 'chat', again, 'deepseek').sent.messages[1].reasoning_content, 'so');
      assert.ok(!('reasoning_content' in exchange(from, 'chat', again, 'qwen').sent.messages[1]));
    });

  const deep = (content: string | null, calls: Json[] = []): Json => ({
    choices: [
      {
        message: {
          content,
          reasoning_content: `for ${content}`,
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        finish_reason: calls.length === 0 ? 'stop' : 'tool_calls',
      },
    ],
  });
  const f = (id: string): Json => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });

  test('reasoning of a round with tool calls returns after the next question too', () => {
    const content = (answer: Json): Json =>
      exchange('messages', 'chat', {}, 'deepseek').answer(answer).content;
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'r' }] };
    const body = {
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: content(deep(null, [f('c')])) },
        result,
        { role: 'assistant', content: content(deep('done')) },
        { role: 'user', content: 'two' },
        { role: 'assistant', content: content(deep('plain')) },
        { role: 'user', content: 'three' },
      ],
    };
    const { messages } = exchange('messages', 'chat', body, 'deepseek').sent;
    assert.deepEqual(
      messages.filter(({ role }: Json) => role === 'assistant').map((each: Json) => each.reasoning_content),
      ['for null', 'for done', undefined],
    );
  });

  test('a call without reasoning gets a placeholder for models that require it, unless thinking is off', () => {
    const body = {
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'r' }] },
        { role: 'assistant', content: 'a' },
        { role: 'user', content: 'r' },
      ],
    };
    const thoughts = (model: string, more: Json = {}): string[] =>
      exchange('messages', 'chat', { ...body, ...more }, model).sent.messages.map(
        (each: Json) => each.reasoning_content,
      );
    for (const model of ['deepseek-v4-pro', 'moonshotai/kimi-k2.5']) {
      assert.ok(thoughts(model)[1], model);
      assert.equal(thoughts(model)[3], undefined);
      assert.equal(thoughts(model, { thinking: { type: 'disabled' } })[1], undefined);
    }
    assert.equal(thoughts('qwen3-max')[1], undefined);
  });

  test('the details of a router return unchanged, in a stream and whole', () => {
    const encrypted = {
      type: 'reasoning.encrypted',
      data: 'AbC=',
      id: 'tool_1',
      format: 'google-gemini-v1',
      index: 1,
    };
    const pieces = [
      { type: 'reasoning.text', text: 'let me ', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.text', text: 'see', index: 0 },
      { type: 'reasoning.text', signature: 'EqQB', index: 0 },
      encrypted,
    ];
    const whole = {
      type: 'reasoning.text',
      text: 'let me see',
      format: 'anthropic-claude-v1',
      index: 0,
      signature: 'EqQB',
    };
    const chunk = (delta: Json, reason: string | null = null): Json => ({
      choices: [{ index: 0, delta, finish_reason: reason }],
    });
    for (const from of ['messages', 'responses', 'gemini'] as const) {
      const model = 'google/gemini-3-pro-preview';
      const answer = exchange(from, 'chat', {}, model).answer({
        choices: [
          {
            message: {
              content: null,
              reasoning: 'let me see',
              reasoning_details: [whole, encrypted],
              tool_calls: [f('c')],
            },
            finish_reason: 'tool_calls',
          },
        ],
      });
      const again = exchange(from, 'chat', REPLAYS[from]!(answer), model).sent.messages[1];
      assert.deepEqual(again.reasoning_details, [whole, encrypted], from);
      const other = exchange(from, 'chat', REPLAYS[from]!(answer), 'google/gemini-3-flash').sent.messages[1];
      assert.ok(!('reasoning_details' in other));
    }
    const events = parseEvents(
      exchange('responses', 'chat', {}, 'm').stream([
        ...pieces
          .slice(0, 3)
          .map((detail) => chunk({ reasoning: (detail as Json).text ?? '', reasoning_details: [detail] })),
        chunk({ reasoning_details: [encrypted], tool_calls: [{ ...f('c'), index: 0 }] }),
        chunk({}, 'tool_calls'),
        '[DONE]',
      ]),
    );
    const { sent } = exchange('responses', 'chat', REPLAYS.responses!(events.at(-1).response), 'm');
    assert.deepEqual(sent.messages[1].reasoning_details, [whole, encrypted]);
    assert.equal(sent.messages[1].reasoning, 'let me see');
  });

  test('the signature of a Gemini text returns, in a stream and whole', () => {
    const parts = [
      { text: 'so', thought: true },
      { text: 'fine', thoughtSignature: 'c2ln' },
    ];
    const said = {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
      modelVersion: 'g',
    };
    const late = {
      candidates: [
        {
          content: { role: 'model', parts: [{ text: 'fine' }, { text: '', thoughtSignature: 'c2ln' }] },
          finishReason: 'STOP',
        },
      ],
    };
    for (const answered of [said, late]) {
      const { content } = exchange('messages', 'gemini', {}, 'gemini-3-pro').answer(answered);
      const { output } = parseEvents(
        exchange('responses', 'gemini', {}, 'gemini-3-pro').stream([answered]),
      ).at(-1).response;
      const asked = [
        exchange(
          'messages',
          'gemini',
          {
            max_tokens: 9,
            messages: [
              { role: 'user', content: 'q' },
              { role: 'assistant', content },
              { role: 'user', content: 'r' },
            ],
          },
          'gemini-3-pro',
        ),
        exchange(
          'responses',
          'gemini',
          { input: [{ role: 'user', content: 'q' }, ...output, { role: 'user', content: 'r' }] },
          'gemini-3-pro',
        ),
      ];
      for (const { sent } of asked) {
        const signed = sent.contents[1].parts.filter((each: Json) => each.thoughtSignature === 'c2ln');
        assert.equal(signed.length, 1, JSON.stringify(sent.contents[1]));
        assert.ok(JSON.stringify(sent.contents[1]).includes('fine'));
      }
    }
    const sealed = exchange('gemini', 'messages', {}, CLAUDE).answer({
      content: [thinking, { type: 'text', text: 'a' }],
      stop_reason: 'end_turn',
    });
    const contents = [
      { role: 'user', parts: [{ text: 'q' }] },
      sealed.candidates[0].content,
      { role: 'user', parts: [{ text: 'r' }] },
    ];
    const body = {
      contents,
      generationConfig: { thinkingConfig: { thinkingBudget: 16000 }, maxOutputTokens: 32000 },
    };
    const back = exchange('gemini', 'messages', body, CLAUDE).sent.messages[1].content;
    assert.deepEqual(
      back.find(({ type }: Json) => type === 'thinking'),
      thinking,
    );
  });

  test('reasoning does not return after the next question', () => {
    const message = { reasoning: 'so', content: 'a' };
    const { content } = exchange('messages', 'chat', {}, 'deepseek').answer({
      choices: [{ message, finish_reason: 'stop' }],
    });
    const body = {
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content },
        { role: 'user', content: 'r' },
      ],
    };
    assert.deepEqual(exchange('messages', 'chat', body, 'deepseek').sent.messages[1], {
      role: 'assistant',
      content: 'a',
    });
  });

  test('streamed reasoning returns as well as whole', () => {
    const events = [
      { type: 'message_start', message: { id: 'm', model: CLAUDE } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'let me ' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'see' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'EqQB' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: redacted },
      { type: 'content_block_stop', index: 1 },
      { type: 'content_block_start', index: 2, content_block: messagesAnswer.content[2] },
      { type: 'content_block_stop', index: 2 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: {} },
      { type: 'message_stop' },
    ];
    const { response } = parseEvents(exchange('responses', 'messages', {}, CLAUDE).stream(events)).at(-1);
    const { sent } = exchange('responses', 'messages', REPLAYS.responses!(response), CLAUDE);
    assert.deepEqual(sent.messages[1].content.slice(0, 2), [thinking, redacted]);
  });
});

test("a signature of Google's chat server returns to it", () => {
  const extra_content = { google: { thought_signature: 'c2ln' } };
  const tool = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' }, extra_content };
  const answer = exchange('messages', 'chat', {}, 'gemini-3').answer({
    choices: [{ message: { content: null, tool_calls: [tool] }, finish_reason: 'tool_calls' }],
  });
  const [, assistant] = exchange('messages', 'chat', REPLAYS.messages!(answer), 'gemini-3').sent.messages;
  assert.deepEqual(assistant.tool_calls, [tool]);
});

describe('a request to a provider of the same protocol', () => {
  const seal = exchange('messages', 'chat', {}, 'q').answer({
    choices: [{ message: { reasoning_content: 'so', content: 'a' }, finish_reason: 'stop' }],
  }).content[0].signature;

  test('the request has the mark when it holds a record of another provider', () => {
    assert.ok(seal.startsWith(SEAL_MARK));
  });

  test('the request is passed on without such records, and is otherwise unchanged', () => {
    const native = { type: 'thinking', thinking: 'own', signature: 'EqQB' };
    const text = { type: 'text', text: 'a' };
    const body = {
      model: 'x',
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'so', signature: seal }, text] },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'so', signature: seal }] },
        { role: 'assistant', content: [native, text] },
      ],
    };
    assert.deepEqual(dropSealedReasoning('messages', body, 'claude'), {
      model: 'x',
      messages: [body.messages[0], { role: 'assistant', content: [text] }, body.messages[3]],
    });
    const clean = { messages: [body.messages[0], body.messages[3]] };
    assert.equal(dropSealedReasoning('messages', clean, 'claude'), clean);
    const items = [
      { type: 'reasoning', encrypted_content: seal },
      { type: 'reasoning', encrypted_content: 'gAAA' },
    ];
    assert.deepEqual(dropSealedReasoning('responses', { input: items }, 'gpt-5'), { input: [items[1]] });
    const part = { functionCall: { name: 'f' }, thoughtSignature: seal };
    const contents = [{ role: 'model', parts: [part] }];
    assert.deepEqual(dropSealedReasoning('gemini', { contents }, 'gemini-2.5-pro'), {
      contents: [{ role: 'model', parts: [{ functionCall: { name: 'f' } }] }],
    });
    assert.deepEqual(dropSealedReasoning('gemini', { contents }, 'gemini-3-pro'), {
      contents: [
        { role: 'model', parts: [{ ...part, thoughtSignature: 'skip_thought_signature_validator' }] },
      ],
    });
    const tool = { id: 'c', extra_content: { google: { thought_signature: seal } } };
    const chat = { messages: [{ role: 'assistant', tool_calls: [tool] }] };
    assert.deepEqual(dropSealedReasoning('chat', chat, 'm'), {
      messages: [{ role: 'assistant', tool_calls: [{ id: 'c' }] }],
    });
  });
});
