import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { opencode } from '../../../../../engine/workers/agents/presets/opencode.ts';
import { createOpencodeReader } from '../../../../../engine/workers/agents/streams/opencode.ts';
import { readStream, type StreamCase } from '../../../../support/agents/streams.ts';

const NOW = 1795279572000;

const CASES: readonly StreamCase[] = [
  { name: 'success', end: 'ok', calls: 2, activity: /^edit nope\.txt$/, usage: [300, 30] },
  { name: 'denied', end: 'permission_denied', text: /not allowed to run touch a\.txt/ },
  { name: 'bad-request', end: 'model_error', text: /^The request is not valid$/ },
  { name: 'wrong-key', end: 'auth_failed' },
  { name: 'forbidden', end: 'auth_failed' },
  { name: 'too-many', end: 'rate_limited', resetAt: NOW + 1000 },
  { name: 'too-long', end: 'context_exceeded' },
  { name: 'budget', end: 'budget_exceeded' },
  { name: 'limit-waits', end: 'usage_limit', text: /^Daily limit$/, resetAt: 1795286774696 },
];

describe('the output of opencode', () => {
  for (const each of CASES) {
    test(`${each.name} is read as ${each.end}`, () => {
      const { facts } = readStream(
        'opencode',
        createOpencodeReader(() => NOW),
        each,
      );
      if (each.name !== 'limit-waits') assert.match(facts.agentSession ?? '', /^ses_/);
      if (each.name === 'success') {
        assert.deepEqual(facts.plan, [
          { text: 'Look', state: 'done' },
          { text: 'Write', state: 'active' },
        ]);
      }
    });
  }
});

describe('the configuration of opencode', () => {
  const gateway = { url: 'http://127.0.0.1:8788', key: 'svc-secret' };
  const wish = { mcp: null, gateway, hooks: null, folder: '/nowhere', env: {} };

  test("the person's configuration is kept next to the route", () => {
    const given = { theme: 'x', model: 'acme/big', plugin: ['one'], provider: { acme: {} } };
    const { env } = opencode.setUpRun({ ...wish, env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(given) } });
    const config = JSON.parse(env.OPENCODE_CONFIG_CONTENT!);
    assert.equal(config.theme, 'x');
    assert.equal(config.model, 'svc/big');
    assert.deepEqual(Object.keys(config.provider), ['acme', 'svc']);
    assert.deepEqual(config.plugin, ['one', 'file:///nowhere/opencode-plugin.mjs']);
    assert.doesNotMatch(env.OPENCODE_CONFIG_CONTENT!, /svc-secret/);
    assert.equal(env.SVC_VKEY, 'svc-secret');
  });
});
