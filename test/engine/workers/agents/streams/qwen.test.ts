import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClaudeReader } from '../../../../../engine/workers/agents/streams/claude.ts';
import { printed, readAll, testOutcomes } from '../../../../support/agents/streams.ts';

testOutcomes('qwen', createClaudeReader, {
  400: 'model_error',
  401: 'auth_failed',
  calls: 'trouble:budget_exceeded',
  hooked: 'ok',
  length: 'ok',
  nologin: 'auth_failed',
  // Qwen does not report that the model declined.
  refusal: 'ok',
  success: 'ok',
  turns: 'trouble:turn_limit',
  wall: 'trouble:budget_exceeded',
});

test('the stream of qwen counts cached tokens as part of the input', () => {
  const { facts, text } = readAll(createClaudeReader(), printed('qwen', 'success'));
  assert.deepEqual(facts.usage, { input: 300, cached: 0, output: 30, costUsd: null });
  assert.equal(facts.model, 'qwen3-coder-plus');
  assert.equal(text.split('\n').at(-1), 'All done.');
  const usage = { input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 40, total_tokens: 110 };
  const { facts: cached } = readAll(createClaudeReader(), [
    JSON.stringify({ type: 'result', subtype: 'success', is_error: false, usage }),
  ]);
  assert.deepEqual(cached.usage, { input: 100, cached: 40, output: 10, costUsd: null });
});
