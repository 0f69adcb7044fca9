import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPricing } from '../../../../engine/gateway/books/pricing.ts';
import type { UsagePart } from '../../../../engine/gateway/books/read.ts';
import { sumAllUsage, sumUsage } from '../../../../engine/gateway/books/sum-usage.ts';
import { aiSchema } from '../../../../engine/gateway/config.ts';

const makePart = (more: Partial<UsagePart>): UsagePart => ({
  session_id: 1,
  task_id: 1,
  person: null,
  provider: 'up',
  model: 'gpt-5',
  protocol: 'chat',
  day: '2026-11-22',
  calls: 1,
  failed: 0,
  denied: 0,
  input: 0,
  output: 0,
  cache_read: 0,
  cache_write: 0,
  cache_write_hour: 0,
  estimated: 0,
  spent: 0,
  ...more,
});
const spend = (more: Partial<UsagePart>): UsagePart => {
  const part = makePart(more);
  return { ...part, spent: part.input + part.output + part.cache_read + part.cache_write };
};
const price = (ai: object = {}) => createPricing({ ai: aiSchema.parse(ai) });

test('reads and writes of a prompt cache have their own prices', () => {
  const parts = [
    spend({
      model: 'claude-sonnet-4-5',
      input: 1_000_000,
      output: 100_000,
      cache_read: 2_000_000,
      cache_write: 400_000,
    }),
  ];
  assert.equal(sumAllUsage(parts, price()).cost_usd, 3 + 1.5 + 0.6 + 1.5);
});

test('a one-hour cache write costs twice the input price from any source', () => {
  const hour = { cache_write: 1_000_000, cache_write_hour: 600_000 };
  const claude = [spend({ model: 'claude-sonnet-4-5', ...hour })];
  assert.equal(sumAllUsage(claude, price()).cost_usd, 0.4 * 3.75 + 0.6 * 6);
  const own = price({ prices: { mine: { input: 1, output: 2, cache_write: 5 } } });
  assert.equal(sumAllUsage([spend({ model: 'mine', ...hour })], own).cost_usd, 0.4 * 5 + 0.6 * 2);
  assert.equal(sumAllUsage([spend({ model: 'gpt-5', ...hour })], price()).cost_usd, 0.4 * 1.25 + 0.6 * 2.5);
});

test('a model without a known price has none, and is reported next to the sum of the others', () => {
  const parts = [
    spend({ input: 1_000_000 }),
    spend({ model: 'of-my-own', input: 700 }),
    makePart({ model: 'svc-stub', provider: null, input: 50 }),
  ];
  const all = sumAllUsage(parts, price());
  assert.deepEqual([all.cost_usd, all.unpriced, all.tokens, all.spent], [1.25, 700, 1_000_750, 1_000_700]);
  const byModel = sumUsage(parts, (part) => part.model, price());
  assert.deepEqual(
    byModel.map(({ key, cost_usd, unpriced }) => [key, cost_usd, unpriced]),
    [
      ['gpt-5', 1.25, 0],
      ['of-my-own', null, 700],
      ['svc-stub', null, 0],
    ],
  );
});

test("a person's prices override svc's; the longest matching name applies", () => {
  const find = price({
    prices: {
      'gpt-5*': { input: 1, output: 2 },
      'gpt-5-mini': { input: 3, output: 4, cache_read: 0 },
      'mine/*': { input: 9, output: 9, cache_write: 10 },
    },
  });
  assert.deepEqual(find('up', 'gpt-5-nano'), { input: 1, output: 2, cacheRead: 1, cacheWrite: 1 });
  assert.equal(find('up', 'gpt-5-mini')?.cacheRead, 0);
  assert.equal(find('mine', 'a/b')?.cacheWrite, 10);
  assert.equal(find('other', 'a/b'), null);
  assert.equal(find('up', 'gpt-4.1')?.input, 2);
});

test('providers of the tiers local and free cost nothing', () => {
  const find = price({
    ollama: { host: '127.0.0.1:11434' },
    providers: [
      { name: 'near', base_url: 'http://127.0.0.1:1/v1', tier: 'local' },
      { name: 'far', base_url: 'http://127.0.0.1:2/v1', tier: 'cheap' },
    ],
  });
  for (const provider of ['near', 'ollama']) assert.equal(find(provider, 'qwen3:8b')?.output, 0, provider);
  assert.equal(find('far', 'qwen3:8b'), null);
  assert.equal(find('far', null), null);
});
