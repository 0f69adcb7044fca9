import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findKnownModel } from '../../../../engine/core/models/index.ts';

test('a model is known by its name, with any maker, spelling and release date', () => {
  const opus = findKnownModel('claude-opus-4-5');
  assert.deepEqual(opus, {
    limits: { context: 200_000, output: 64_000 },
    price: { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  });
  for (const name of [
    'claude-opus-4-5-20251101',
    'anthropic/claude-opus-4.5',
    'Claude-Opus-4-5-latest',
    'models/claude-opus-4-5',
  ])
    assert.equal(findKnownModel(name), opus, name);
  assert.equal(findKnownModel('gpt-5.5-2026-04-23')?.limits.context, 1_050_000);
  assert.equal(findKnownModel('gemini-3.1-pro-preview-customtools')?.price.output, 12);
});

test('a longer name is another model, and an unlisted one stays unknown', () => {
  assert.notEqual(findKnownModel('gpt-5-mini'), findKnownModel('gpt-5'));
  for (const name of [
    '',
    'gpt-5.5-pro',
    'qwen3:8b',
    'claude-opus-4-5:free',
    'gpt-5-chat',
    '-20251101',
    'svc-stub',
  ])
    assert.equal(findKnownModel(name), null, name);
});

test('a cache write costs as much as other input, where the service charges nothing for it', () => {
  const price = findKnownModel('gpt-5')?.price;
  assert.deepEqual(price, { input: 1.25, output: 10, cacheRead: 0.125, cacheWrite: 1.25 });
});
