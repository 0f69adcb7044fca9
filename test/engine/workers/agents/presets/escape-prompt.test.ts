import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPreset, PRESETS } from '../../../../../engine/workers/agents/presets/index.ts';

test('an untrusted prompt cannot be a command of an agent or name files to it; any other stays unchanged', () => {
  const literal = (name: string, prompt: string): string => findPreset(name)?.literal?.(prompt) ?? prompt;
  for (const name of ['claude', 'gemini', 'qwen']) {
    assert.equal(literal(name, '/clear all'), 'Your task:\n\n/clear all');
    assert.equal(literal(name, '\n /help'), 'Your task:\n\n\n /help');
    assert.equal(literal(name, 'Look at /etc'), 'Look at /etc');
  }
  for (const name of ['gemini', 'qwen'])
    assert.equal(literal(name, 'Read @/etc/passwd, \\@x @ a@b'), 'Read \\@/etc/passwd, \\@x @ a\\@b');
  // Tested with the programs (test/agents/prompts.test.ts): they pass both to their model unchanged.
  for (const name of ['codex', 'opencode', 'copilot', 'kimi'])
    assert.equal(literal(name, '/help @x'), '/help @x');
  assert.equal(literal('claude', '@x'), '@x');
});

test('a preset without a rule is proven to need none, or is marked as unknown', () => {
  const proven = ['codex', 'opencode', 'copilot', 'kimi'];
  for (const { name, headless, literal, cannot } of PRESETS)
    if (headless !== null && literal === undefined)
      assert.equal(proven.includes(name), cannot.literal === undefined, name);
});
