import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { codex } from '../../../../../engine/workers/agents/presets/codex.ts';
import { createCodexReader } from '../../../../../engine/workers/agents/streams/codex.ts';
import { readStream, type StreamCase } from '../../../../support/agents/streams.ts';

/** 21 November 2026, 16:38 by this machine's clock. */
const NOW = new Date(2026, 10, 21, 16, 38).getTime();
const at = (day: number, hour: number, minute: number): number =>
  new Date(2026, 10, day, hour, minute).getTime();

const CASES: readonly StreamCase[] = [
  { name: 'success', end: 'ok', calls: 1, activity: /^edit .*a\.txt$/, usage: [200, 20] },
  { name: 'command', end: 'ok', calls: 1, activity: /^run ls; exit 3$/, usage: [200, 20] },
  { name: 'denied', end: 'permission_denied', text: /read-only sandbox/ },
  { name: 'bad-request', end: 'model_error', text: /^The request is not valid$/ },
  { name: 'wrong-key', end: 'auth_failed' },
  { name: 'forbidden', end: 'auth_failed' },
  { name: 'too-many', end: 'rate_limited' },
  { name: 'quota', end: 'usage_limit' },
  { name: 'overloaded', end: 'rate_limited' },
  { name: 'broken', end: 'model_error' },
  { name: 'too-long', end: 'context_exceeded' },
  { name: 'budget', end: 'budget_exceeded' },
  { name: 'limit-today', end: 'usage_limit', resetAt: at(21, 18, 38) },
  { name: 'limit-days', end: 'usage_limit', resetAt: at(24, 16, 38) },
];

describe('the output of codex', () => {
  for (const each of CASES) {
    test(`${each.name} is read as ${each.end}`, () => {
      const { facts } = readStream(
        'codex',
        createCodexReader(() => NOW),
        each,
      );
      assert.match(facts.agentSession ?? '', /^01a1fe/);
    });
  }

  test('a time of day in the past is the next day, and one that has just passed is in a minute', () => {
    const just = createCodexReader(() => at(21, 18, 37) + 1000);
    const said =
      '{"type":"turn.failed","error":{"message":"You’ve hit your usage limit. Try again at 6:37 PM."}}';
    just.readLine(said);
    const told = just.facts().end;
    assert.deepEqual(told?.ok === false && told.resetAt, at(21, 18, 38) + 1000);
    const reader = createCodexReader(() => at(21, 19, 40));
    reader.readLine(said);
    const { end } = reader.facts();
    assert.deepEqual(end?.ok === false && end.resetAt, at(22, 18, 38));
  });

  test("codex's list of steps is the plan", () => {
    const reader = createCodexReader();
    const items = [
      { completed: true, text: 'Look' },
      { text: 'Write', completed: false },
      { text: 'Test', completed: false },
    ];
    reader.readLine(
      JSON.stringify({ item: { items, type: 'todo_list', id: 'item_1' }, type: 'item.updated' }),
    );
    assert.deepEqual(
      reader.facts().plan.map(({ state }) => state),
      ['done', 'active', 'pending'],
    );
  });
});

describe('the configuration of codex', () => {
  const argv = ['codex', 'exec', '--json', '-c', 'a=1'];

  test('a session resumes with the prompt in its place', () => {
    assert.deepEqual(codex.resume?.([...argv, '--', '--x'], 'id'), [...argv, 'resume', 'id', '--', '--x']);
    assert.deepEqual(codex.resume?.(['codex', 'exec', '--json', '-', '-c', 'a=1'], 'id'), [
      ...['codex', 'exec', 'resume', 'id', '--json', '-', '-c', 'a=1'],
    ]);
  });

  test('the key is only in the environment', () => {
    const gateway = { url: 'http://127.0.0.1:8788', key: 'svc-secret' };
    const setup = codex.setUpRun({ mcp: null, gateway, hooks: null, folder: '/nowhere', env: {} });
    assert.doesNotMatch(setup.args.join(' '), /svc-secret/);
    assert.deepEqual(setup.env, { SVC_VKEY: 'svc-secret' });
  });
});
