import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKimiReader } from '../../../../../engine/workers/agents/streams/kimi.ts';
import { printed, readAll, testOutcomes } from '../../../../support/agents/streams.ts';

testOutcomes('kimi', createKimiReader, {
  400: 'trouble:model_error',
  401: 'trouble:auth_failed',
  429: 'trouble:rate_limited',
  context: 'trouble:context_exceeded',
  hooked: 'ok',
  length: 'ok',
  nologin: 'trouble:auth_failed',
  quota: 'trouble:usage_limit',
  refusal: 'trouble:refused',
  success: 'ok',
});

test('the stream of kimi reports its actions and its plan', () => {
  const { facts, text } = readAll(createKimiReader(), printed('kimi', 'success'));
  assert.match(facts.agentSession ?? '', /^session_/);
  assert.deepEqual(facts.plan, [
    { text: 'write it', state: 'done' },
    { text: 'commit it', state: 'active' },
  ]);
  assert.equal(facts.toolCalls, 3);
  assert.equal(facts.activity, 'run git add hello.txt && git commit -qm hello');
  assert.equal(text.split('\n').at(-1), 'All done.');
});

test("a tool's output on kimi's other stream is not a failure of the run", () => {
  const { facts } = readAll(createKimiReader(), [
    "error: pathspec 'x' did not match any file(s) known to git",
  ]);
  assert.equal(facts.trouble, null);
});
