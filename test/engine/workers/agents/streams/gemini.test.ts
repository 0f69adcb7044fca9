import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGeminiReader } from '../../../../../engine/workers/agents/streams/gemini.ts';
import { outcomeOf, printed, readAll, testOutcomes } from '../../../../support/agents/streams.ts';

testOutcomes('gemini', createGeminiReader, {
  400: 'model_error',
  401: 'auth_failed',
  429: 'rate_limited',
  503: 'rate_limited',
  hooked: 'ok',
  // Gemini reports neither a refusal nor a truncation by the model.
  length: 'ok',
  refusal: 'ok',
  nologin: 'trouble:auth_failed',
  quota: 'usage_limit',
  success: 'ok',
});

test('the stream of gemini reports its actions', () => {
  const { facts, text } = readAll(createGeminiReader(), printed('gemini', 'success'));
  assert.deepEqual(
    { ...facts, agentSession: facts.agentSession?.length },
    {
      isStream: true,
      agentSession: 36,
      model: 'gemini-3.8-flash',
      usage: { input: 400, cached: 0, output: 40, costUsd: null },
      conversation: null,
      activity: 'run git add hello.txt && git commit -qm hello',
      toolCalls: 2,
      plan: [],
      end: { ok: true },
      trouble: null,
    },
  );
  assert.equal(text.split('\n').at(-1), 'All done.');
});

test("a tool that gemini's policies denied fails the run unless the tool worked later", () => {
  const use = { type: 'tool_use', tool_name: 'write_file', tool_id: '1', parameters: {} };
  const message = 'Tool execution denied by policy.';
  const denied = {
    type: 'tool_result',
    tool_id: '1',
    status: 'error',
    error: { type: 'policy_violation', message },
  };
  const worked = { type: 'tool_result', tool_id: '1', status: 'success' };
  const end = { type: 'result', status: 'success' };
  const outcome = (...events: object[]) =>
    outcomeOf(
      readAll(
        createGeminiReader(),
        events.map((event) => JSON.stringify(event)),
      ).facts,
    );
  assert.equal(outcome(use, denied, end), 'permission_denied');
  assert.equal(outcome(use, denied, use, worked, end), 'ok');
});

test('a detected loop is not a success, although the run ends normally', () => {
  const { facts } = readAll(createGeminiReader(), [
    '{"type":"init","session_id":"s","model":"m"}',
    '{"type":"error","severity":"warning","message":"Loop detected, stopping execution"}',
    '{"type":"result","status":"success","stats":{"input_tokens":5,"output_tokens":1,"cached":0}}',
  ]);
  assert.equal(outcomeOf(facts), 'turn_limit');
});
