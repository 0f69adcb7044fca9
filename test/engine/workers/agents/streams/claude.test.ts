import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClaudeReader } from '../../../../../engine/workers/agents/streams/claude.ts';
import { printed, readAll, testOutcomes } from '../../../../support/agents/streams.ts';

testOutcomes('claude', createClaudeReader, {
  400: 'model_error',
  401: 'auth_failed',
  429: 'rate_limited',
  503: 'rate_limited',
  529: 'rate_limited',
  budget: 'budget_exceeded',
  context: 'context_exceeded',
  denied: 'permission_denied',
  hooked: 'ok',
  length: 'model_error',
  limit: 'usage_limit',
  nologin: 'auth_failed',
  refusal: 'refused',
  retry: 'ok',
  success: 'ok',
  turns: 'turn_limit',
});

const read = (name: string) => readAll(createClaudeReader(), printed('claude', name));

test('the stream of claude reports its actions, and a person reads it in a few lines', () => {
  const { facts, text } = read('success');
  assert.equal(text, '→ write hello.txt\n→ run git add hello.txt && git commit -qm hello\nAll done.');
  assert.match(facts.agentSession ?? '', /^[0-9a-f-]{36}$/);
  assert.deepEqual(
    { ...facts, agentSession: '' },
    {
      isStream: true,
      agentSession: '',
      model: 'claude-opus-5-5',
      usage: { input: 300, cached: 0, output: 30, costUsd: null },
      conversation: { input: 300, cached: 0, output: 30, costUsd: 0.0018000000000000002 },
      activity: 'run git add hello.txt && git commit -qm hello',
      toolCalls: 2,
      plan: [],
      end: { ok: true },
      trouble: null,
    },
  );
});

test('a limit of an account includes its end', () => {
  const { facts, text } = read('limit');
  assert.deepEqual(facts.end, {
    ok: false,
    code: 'usage_limit',
    text: "You've hit your 5-hour limit · resets 6:49pm (UTC)",
    resetAt: 1_795_286_978_000,
  });
  assert.equal(text, "✗ You've hit your 5-hour limit · resets 6:49pm (UTC)");
});

test('a failed attempt applies only until one succeeds', () => {
  const lines = printed('claude', 'retry');
  const reader = createClaudeReader();
  const troubles = lines.map((line) => {
    reader.readLine(line);
    return reader.facts().trouble?.code ?? null;
  });
  assert.deepEqual(troubles, [null, 'rate_limited', null, null]);
});

const said = (event: object): string => JSON.stringify(event);
const calls = (id: string, name: string, input: object): string =>
  said({ type: 'assistant', message: { id: `m${id}`, content: [{ type: 'tool_use', id, name, input }] } });
const answers = (id: string, error: string | null): string =>
  said({
    type: 'user',
    message: {
      content: [{ type: 'tool_result', tool_use_id: id, content: error ?? 'ok', is_error: error !== null }],
    },
  });
const ends = (more: object = {}): string =>
  said({ type: 'result', subtype: 'success', is_error: false, result: 'done', ...more });

test('a denied tool fails the run unless the same was done in another way later', () => {
  const denied = { permission_denials: [{ tool_name: 'Write', tool_use_id: '1' }] };
  const refused = [
    calls('1', 'Write', { file_path: '/etc/x' }),
    answers('1', 'Permission to use Write was denied'),
  ];
  const cases: [string[], boolean][] = [
    [[calls('2', 'Bash', { command: 'ls' }), answers('2', null)], false],
    [[calls('2', 'Write', { file_path: '/w/x' }), answers('2', 'no such folder')], false],
    [[calls('2', 'Write', { file_path: '/w/x' }), answers('2', null)], true],
  ];
  for (const [later, isOk] of cases) {
    const { end } = readAll(createClaudeReader(), [...refused, ...later, ends(denied)]).facts;
    assert.equal(end?.ok, isOk, later[0]);
  }
});

test('a turn after the end revokes the end, and so does one that is still pending', () => {
  const reader = createClaudeReader();
  reader.readLine(ends({ queued_turn_count: 1 }));
  assert.equal(reader.facts().end, null);
  reader.readLine(ends());
  assert.deepEqual(reader.facts().end, { ok: true });
  reader.readLine(calls('1', 'Read', { file_path: 'a' }));
  assert.equal(reader.facts().end, null);
});

test('tokens are counted once, with those of helpers, and the final event is authoritative', () => {
  const usage = (input: number, output: number, read: number): object => ({
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: 1,
  });
  const message = (id: string, numbers: object, parent: string | null = null): string =>
    said({ type: 'assistant', parent_tool_use_id: parent, message: { id, content: [], usage: numbers } });
  const reader = createClaudeReader();
  // One message spans several events, each with the usage so far.
  for (const line of [
    message('a', usage(5, 1, 10)),
    message('a', usage(5, 3, 10)),
    message('b', usage(2, 2, 0), 't'),
  ])
    reader.readLine(line);
  assert.deepEqual(reader.facts().usage, { input: 19, cached: 10, output: 5, costUsd: null });
  const model = { inputTokens: 7, outputTokens: 6, cacheReadInputTokens: 10, cacheCreationInputTokens: 2 };
  reader.readLine(ends({ total_cost_usd: 0.5, usage: usage(1, 1, 1), modelUsage: { x: model, y: model } }));
  assert.deepEqual(reader.facts().conversation, { input: 38, cached: 20, output: 12, costUsd: 0.5 });
  const own = { 'a-model': { ...model, costUSD: 0.1 } };
  for (const _ of [1, 2])
    reader.readLine(ends({ modelUsage: { x: model, y: model }, model_usage_since_last_result: own }));
  assert.deepEqual(reader.facts().usage, { input: 38, cached: 20, output: 12, costUsd: 0.2 });
});

test('the plan is the one that the agent wrote last', () => {
  const todos = [
    { content: 'one', status: 'completed' },
    { content: 'two', status: 'in_progress' },
    { content: 'three', status: 'pending' },
  ];
  const { facts } = readAll(createClaudeReader(), [calls('1', 'TodoWrite', { todos })]);
  assert.deepEqual(facts.plan, [
    { text: 'one', state: 'done' },
    { text: 'two', state: 'active' },
    { text: 'three', state: 'pending' },
  ]);
});

test('a key inside an error is masked', () => {
  const { facts, text } = readAll(createClaudeReader(), [
    ends({ is_error: true, subtype: 'error_during_execution', result: 'bad key sk-ant-api03-abcdefghijkl' }),
  ]);
  assert.ok(!`${JSON.stringify(facts.end)}${text}`.includes('abcdefghijkl'));
});
