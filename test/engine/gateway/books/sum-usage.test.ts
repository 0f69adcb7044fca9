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
  estimated_tokens: 0,
  ...more,
});
const price = (ai: object = {}) => createPricing({ ai: aiSchema.parse(ai) });

test('reads and writes of a prompt cache have their own prices', () => {
  const parts = [
    makePart({
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
  const claude = [makePart({ model: 'claude-sonnet-4-5', ...hour })];
  assert.equal(sumAllUsage(claude, price()).cost_usd, 0.4 * 3.75 + 0.6 * 6);
  const own = price({ prices: { mine: { input: 1, output: 2, cache_write: 5 } } });
  assert.equal(sumAllUsage([makePart({ model: 'mine', ...hour })], own).cost_usd, 0.4 * 5 + 0.6 * 2);
  assert.equal(
    sumAllUsage([makePart({ model: 'gpt-5', ...hour })], price()).cost_usd,
    0.4 * 1.25 + 0.6 * 2.5,
  );
});

test('a model without a known price has none, and is reported next to the sum of the others', () => {
  const parts = [
    makePart({ input: 1_000_000 }),
    makePart({ model: 'of-my-own', input: 700 }),
    makePart({ model: 'svc-stub', provider: null }),
  ];
  const all = sumAllUsage(parts, price());
  assert.deepEqual([all.cost_usd, all.unpriced, all.tokens], [1.25, 700, 1_000_700]);
  const byModel = sumUsage(parts, (part) => part.model, price());
  assert.deepEqual(
    byModel.map(({ key, cost_usd, unpriced }) => [key, cost_usd, unpriced]),
    [
      ['gpt-5', 1.25, 0],
      ['of-my-own', null, 700],
      ['svc-stub', 0, 0],
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
  assert.deepEqual(find('up', 'gpt-5-nano'), {
    ...{ input: 1, output: 2, cacheRead: 1, cacheWrite: 1 },
    isGuessed: false,
  });
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

test('a cost is an estimate if its tokens are, or if the list price of a maker is applied to another provider', () => {
  const isEstimate = (part: Partial<UsagePart>, ai: object = {}): boolean =>
    sumAllUsage([makePart({ input: 100, ...part })], price(ai)).estimated;
  const providers = [
    { name: 'up', base_url: 'https://reseller.example/v1' },
    { name: 'openai', base_url: 'https://api.openai.com/v1' },
  ];
  assert.equal(isEstimate({}, { providers }), true);
  assert.equal(isEstimate({ provider: 'openai' }, { providers }), false);
  assert.equal(isEstimate({}, { providers, prices: { 'gpt-5': { input: 1, output: 1 } } }), false);
  assert.equal(isEstimate({ provider: 'openai', estimated_tokens: 100 }, { providers }), true);
  assert.equal(isEstimate({ input: 0 }, { providers }), false);
  const claude = { provider: 'anthropic', model: 'claude-sonnet-4-5' };
  const passed = (key: object) => ({
    passthrough: { anthropic: { base_url: 'https://api.anthropic.com', ...key } },
  });
  assert.equal(isEstimate(claude, passed({ api_key_env: 'MY_KEY' })), false);
  assert.equal(isEstimate(claude, passed({})), true, 'a subscription of the client may pay for it');
});

test('calls that no provider has processed cost nothing, which is known', () => {
  const { cost_usd, unpriced, estimated } = sumAllUsage(
    [makePart({ model: 'svc-stub', provider: null })],
    price(),
  );
  assert.deepEqual([cost_usd, unpriced, estimated], [0, 0, false]);
  assert.equal(sumAllUsage([], price()).cost_usd, null);
});
