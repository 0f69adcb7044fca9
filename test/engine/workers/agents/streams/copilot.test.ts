import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { copilot } from '../../../../../engine/workers/agents/presets/copilot.ts';
import { createCopilotReader } from '../../../../../engine/workers/agents/streams/copilot.ts';
import { readStream, type StreamCase } from '../../../../support/agents/streams.ts';

const CASES: readonly StreamCase[] = [
  { name: 'success', end: 'ok', calls: 3, activity: /^read \/nope$/ },
  { name: 'denied', end: 'permission_denied', text: /not allowed to write/ },
  { name: 'bad-request', end: 'model_error', text: /The request is not valid/ },
  { name: 'wrong-key', end: 'auth_failed' },
  { name: 'forbidden', end: 'auth_failed' },
  { name: 'too-many', end: 'rate_limited' },
  { name: 'overloaded', end: 'rate_limited' },
  { name: 'broken', end: 'model_error' },
  { name: 'too-long', end: 'context_exceeded' },
  { name: 'budget', end: 'budget_exceeded' },
];

describe('the output of copilot', () => {
  for (const each of CASES) {
    test(`${each.name} is read as ${each.end}`, () => {
      const { facts } = readStream('copilot', createCopilotReader(), each);
      assert.match(facts.agentSession ?? '', /^[\da-f-]{36}$/);
      assert.equal(facts.model, 'svc');
    });
  }

  test('a limit that copilot keeps retrying against is recognised, with its time', () => {
    const reader = createCopilotReader(() => 1795279100000);
    const answer = '{"message":"The usage limit has been reached","resets_at":1795286285}';
    const data = { statusCode: 429, errorMessage: answer, errorType: 'usage_limit_reached' };
    reader.readLine(JSON.stringify({ type: 'model.call_failure', data }));
    const { trouble } = reader.facts();
    assert.deepEqual([trouble?.code, trouble?.resetAt], ['usage_limit', 1795286285000]);
  });
});

test('a session of copilot resumes without the options of a new one', () => {
  const argv = ['copilot', '--trust-folder', '--name=w-1', '--prompt=--x'];
  assert.deepEqual(copilot.resume?.(argv, 'id'), ['copilot', '--prompt=--x', '--resume=id']);
});
