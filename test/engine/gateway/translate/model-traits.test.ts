import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Protocol } from '../../../../engine/gateway/protocol.ts';
import type { Json } from '../../../support/gateway/plain-protocols.ts';
import { exchange } from '../../../support/gateway/translated.ts';

const hi = [{ role: 'user', content: 'q' }];
const fromClaude = (more: Json, model: string, to: Protocol = 'chat'): Json =>
  exchange('messages', to, { max_tokens: 9000, messages: hi, ...more }, model).sent;

describe('a model with thinking switched off', () => {
  const off = { thinking: { type: 'disabled' } };

  test("DeepSeek, GLM, Kimi and Qwen get their makers' own switch", () => {
    for (const model of [
      'deepseek-v4-pro',
      'deepseek/deepseek-chat',
      'glm-4.6',
      'zai-org/GLM-5',
      'kimi-k2.5',
    ])
      assert.deepEqual(fromClaude(off, model).thinking, { type: 'disabled' }, model);
    for (const model of ['qwen3-235b-a22b', 'Qwen/Qwen3.5-27B', 'qwen-plus', 'qwen3:8b']) {
      const sent = fromClaude(off, model);
      assert.equal(sent.enable_thinking, false, model);
      assert.deepEqual(sent.chat_template_kwargs, { enable_thinking: false });
      assert.ok(!('thinking' in sent));
    }
    assert.equal(fromClaude(off, 'qwen3:8b').reasoning_effort, 'none');
  });

  test('other models get nothing that they may refuse, and neither do models that may think', () => {
    for (const model of ['gpt-4o', 'llama-3.3-70b', 'mistral-large', 'gpt-5', 'glm-4-plus'])
      for (const field of ['thinking', 'enable_thinking', 'chat_template_kwargs', 'reasoning_effort'])
        assert.ok(!(field in fromClaude(off, model)), `${model} ${field}`);
    for (const model of ['deepseek-v4-pro', 'qwen3-max', 'glm-4.6'])
      for (const field of ['thinking', 'enable_thinking', 'chat_template_kwargs'])
        for (const more of [
          {},
          { thinking: { type: 'adaptive' } },
          { thinking: { type: 'enabled', budget_tokens: 2000 } },
        ])
          assert.ok(!(field in fromClaude(more, model)), `${model} ${field}`);
  });

  test('an effort next to the switch changes nothing', () => {
    const both = { ...off, output_config: { effort: 'low' } };
    assert.deepEqual(fromClaude(both, 'deepseek-v4-pro').thinking, { type: 'disabled' });
    assert.equal(
      exchange('responses', 'chat', { input: 'q', reasoning: { effort: 'none' } }, 'qwen3-max').sent
        .enable_thinking,
      false,
    );
  });

  test('callers of chat can use any of these switches', () => {
    for (const more of [
      { thinking: { type: 'disabled' } },
      { enable_thinking: false },
      { chat_template_kwargs: { enable_thinking: false } },
      { reasoning: { enabled: false } },
      { reasoning_effort: 'none' },
    ]) {
      const body = { messages: hi, ...more };
      const gemini = exchange('chat', 'gemini', body, 'gemini-2.5-flash').sent;
      assert.deepEqual(gemini.generationConfig.thinkingConfig, { thinkingBudget: 0 });
      assert.deepEqual(exchange('chat', 'messages', body, 'glm-4.6').sent.thinking, { type: 'disabled' });
      assert.ok(!('thinking' in exchange('chat', 'messages', body, 'claude-opus-4-8').sent));
      const responses = exchange('chat', 'responses', body, 'gpt-4o').sent;
      assert.deepEqual(Object.keys(responses).sort(), ['input', 'model', 'store']);
    }
  });

  test('Gemini gets the smallest budget that each model accepts', () => {
    const config = (model: string): Json => fromClaude(off, model, 'gemini').generationConfig.thinkingConfig;
    assert.deepEqual(config('gemini-2.5-flash'), { thinkingBudget: 0 });
    assert.deepEqual(config('gemini-2.5-pro'), { thinkingBudget: 128 });
    assert.deepEqual(config('gemini-3-pro'), { thinkingLevel: 'LOW' });
    assert.deepEqual(config('gemini-3-flash'), { thinkingLevel: 'MINIMAL' });
    assert.equal(config('gemini-2.0-flash'), undefined);
  });
});

test("OpenAI's chat and search models get no effort, nor any other option of a reasoning model", () => {
  for (const model of ['gpt-5-chat-latest', 'openai/gpt-5.1-chat-latest', 'gpt-5-search-api', 'o1-mini']) {
    const asked = { thinking: { type: 'enabled', budget_tokens: 5000 } };
    const chat = fromClaude(asked, model);
    assert.ok(!('reasoning_effort' in chat), model);
    assert.equal(chat.max_completion_tokens, 9000);
    const responses = fromClaude(asked, model, 'responses');
    assert.ok(!('reasoning' in responses) && !('include' in responses), model);
  }
  assert.equal(
    fromClaude({ thinking: { type: 'enabled', budget_tokens: 5000 } }, 'gpt-5').reasoning_effort,
    'medium',
  );
});

test("a request asks for at most the output of the provider's model", () => {
  const asked = (from: Protocol, to: Protocol, body: Json, most: number | null): Json =>
    JSON.parse(JSON.stringify(exchange(from, to).translation.request(body, 'm', most)));
  const long = { max_tokens: 32_000, messages: hi };
  assert.equal(asked('messages', 'chat', long, 8192).max_tokens, 8192);
  assert.equal(asked('messages', 'responses', long, 8192).max_output_tokens, 8192);
  assert.equal(asked('messages', 'gemini', long, 8192).generationConfig.maxOutputTokens, 8192);
  assert.equal(asked('messages', 'chat', { ...long, max_tokens: 100 }, 8192).max_tokens, 100);
  assert.equal(asked('messages', 'chat', long, null).max_tokens, 32_000);
  assert.equal(asked('chat', 'messages', { messages: hi }, 4096).max_tokens, 4096);
  assert.equal(asked('chat', 'messages', { messages: hi }, 64_000).max_tokens, 32_000);
  // Claude Code requests one token to check its access; the responses protocol requires at least sixteen.
  assert.equal(asked('messages', 'responses', { ...long, max_tokens: 1 }, null).max_output_tokens, 16);
});
