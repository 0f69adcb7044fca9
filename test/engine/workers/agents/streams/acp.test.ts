import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AcpLine,
  type AgentError,
  createAcpReader,
  judgeAcpError,
} from '../../../../../engine/workers/agents/streams/acp.ts';

const reading = () => {
  const reader = createAcpReader();
  return { ...reader, says: (line: AcpLine) => reader.readLine(JSON.stringify(line)) };
};
const tool = (id: string, title: string, status: 'pending' | 'failed', paths: string[] = []): AcpLine => ({
  acp: 'tool',
  id,
  kind: 'edit',
  title,
  status,
  paths,
});

test('the lines of a run on transport acp become text for a person, and facts', () => {
  const { says, readLine, facts } = reading();
  assert.equal(readLine('a notice of the agent'), 'a notice of the agent');
  assert.equal(facts().isStream, false);
  assert.equal(
    says({ acp: 'session', id: 'ses_1', agent: { name: 'OpenCode', version: '1.18' }, model: 'm' }),
    'OpenCode 1.18, model m, session ses_1',
  );
  assert.equal(says({ acp: 'thought', text: 'hm' }), 'thinks: hm');
  assert.equal(says(tool('1', 'Preparing…', 'pending')), 'edit Preparing…');
  assert.equal(says(tool('1', 'Write a.ts', 'pending', ['a.ts'])), 'edit a.ts');
  assert.equal(says(tool('1', 'Write a.ts', 'pending', ['a.ts'])), null);
  assert.equal(says(tool('2', 'Two', 'failed', ['b', 'c'])), 'edit b … failed');
  const entries = [
    { text: 'one', state: 'done' as const },
    { text: 'two', state: 'active' as const },
  ];
  assert.equal(says({ acp: 'plan', entries }), 'plan\n  [x] one\n  [>] two');
  assert.equal(
    says({ acp: 'permission', tool: '3', kind: 'execute', title: 'make', outcome: 'allow_once', by: 'ada' }),
    'allowed by ada: execute make',
  );
  assert.equal(says({ acp: 'message', text: 'Done.\nBye.' }), 'Done.\nBye.');
  says({ acp: 'usage', input: 30, cached: 10, output: 4, cost_usd: 0.5 });
  assert.equal(facts().end, null);
  assert.equal(says({ acp: 'end', stop_reason: 'end_turn', error: null }), null);
  assert.deepEqual(facts(), {
    isStream: true,
    conversation: null,
    agentSession: 'ses_1',
    model: 'm',
    usage: { input: 30, cached: 10, output: 4, costUsd: 0.5 },
    activity: 'edit b …',
    toolCalls: 2,
    plan: entries,
    end: { ok: true },
    trouble: null,
  });
});

const NOW = Date.UTC(2026, 10, 21);
const answered = (message: string, more: Partial<AgentError> & { about?: object } = {}) => {
  const { about, ...fields } = more;
  const data = about === undefined ? {} : { data: JSON.stringify(about) };
  const error = { code: -32_603, message: `Internal error: ${message}`, reset_at: null, at: NOW };
  return judgeAcpError({ ...error, ...data, ...fields });
};

test('a failure has its code and the end of its limit; one that was overcome no longer applies', () => {
  const { says, facts } = reading();
  const slower: AgentError = { code: 429, message: 'retry after 20 seconds', reset_at: null, at: NOW };
  assert.equal(says({ acp: 'error', ...slower }), 'error: retry after 20 seconds');
  const limit = { ok: false, code: 'rate_limited', text: slower.message, resetAt: NOW + 20_000 };
  assert.deepEqual(facts().trouble, limit);
  says({ acp: 'message', text: 'on' });
  assert.equal(facts().trouble, null);
  const usedUp = { ...slower, message: 'usage limit reached' };
  assert.equal(says({ acp: 'end', stop_reason: null, error: usedUp }), 'ended: usage limit reached');
  const end = facts().end;
  assert.equal(end?.ok === false && end.code, 'usage_limit');
});

test('failures that the run found itself, and every line of the previous version, carry a code', () => {
  const { says, facts } = reading();
  says({ acp: 'error', code: 'rate_limited', text: 'slower' });
  assert.deepEqual(facts().trouble, { ok: false, code: 'rate_limited', text: 'slower', resetAt: null });
  const error = { code: 'usage_limit' as const, text: 'used up', reset_at: 5 };
  assert.equal(says({ acp: 'end', stop_reason: null, error }), 'ended: used up');
  assert.deepEqual(facts().end, { ok: false, code: 'usage_limit', text: 'used up', resetAt: 5 });
});

test('errors of the model are classified as real programs send them', () => {
  for (const [code, message, more] of [
    ['rate_limited', 'API Error: Request rejected (429) · x'],
    ['rate_limited', 'Request rejected', { about: { errorKind: 'rate_limit' } }],
    ['rate_limited', 'API Error: 529 Overloaded. Try again', { about: { errorKind: 'server_error' } }],
    ['rate_limited', 'No', { about: { errorName: 'APIError', statusCode: 429 } }],
    ['auth_failed', 'invalid x-api-key', { about: { service: 'session', errorName: 'APIError' } }],
    ['auth_failed', 'No', { about: { errorName: 'ProviderAuthError' } }],
    ['auth_failed', 'Authentication required', { code: -32_000 }],
    ['auth_failed', 'Login required'],
    ['auth_failed', 'the request failed with 401', { about: { errorName: 'APIError' } }],
    ['context_exceeded', 'Session too large', { about: { errorName: 'ContextOverflowError' } }],
    ['context_exceeded', 'Prompt is too long · 250000 tokens', { about: { errorKind: 'invalid_request' } }],
    ['context_exceeded', 'The conversation is too large to compact'],
    ['usage_limit', '5-hour limit reached ∙ resets 3pm'],
    ['usage_limit', 'Rate limit reached', { reset_at: 5 }],
    ['rate_limited', 'Rate limit reached for the model'],
    ['usage_limit', 'Payment Required'],
    ['budget_exceeded', 'the budget of this key is spent'],
    ['model_error', 'API Error: 500 boom', { about: { errorKind: 'server_error' } }],
    ['model_error', 'TypeError: fetch failed', { about: { cause: 'ECONNREFUSED' } }],
    ['model_error', 'No', { about: { errorName: 'ProviderModelNotFoundError' } }],
    ['agent_error', 'cannot read a property of undefined'],
    ['agent_error', 'the file a-429.txt has 503 lines'],
  ] as const)
    assert.equal(answered(message, more).code, code, message);
});

test('an error is shown in its most informative words', () => {
  assert.equal(
    answered('{"error":{"message":"not_found_error: x"}}', { code: 500 }).text,
    'not_found_error: x',
  );
  const bare = { message: 'Internal error', about: { details: 'no such model' } };
  assert.equal(answered('', bare).text, 'Internal error {"details":"no such model"}');
  const limited = answered(`usage limit reached|${NOW / 1000 + 60}`);
  assert.deepEqual([limited.code, limited.resetAt], ['usage_limit', NOW + 60_000]);
  assert.equal(answered('Too many requests', { about: { wait: 'retry after 2 m' } }).resetAt, NOW + 120_000);
  assert.equal(answered('rate limit', { reset_at: 5 }).resetAt, 5);
  assert.equal(answered('API Error: 500 resets in 2h').resetAt, null);
});

test('an end that does not end its turn is ignored, even without an error next to it', () => {
  for (const [stop, code] of [
    ['refusal', 'refused'],
    ['max_tokens', 'context_exceeded'],
    ['max_turn_requests', 'turn_limit'],
    ['cancelled', 'agent_error'],
    [null, 'agent_error'],
  ] as const) {
    const { says, facts } = reading();
    says({ acp: 'end', stop_reason: stop, error: null });
    const { end } = facts();
    assert.equal(end?.ok === false && end.code, code);
  }
});

test('a turn that ends with a refusal did no work; one that continues after it may have', () => {
  const refusal: AcpLine = {
    acp: 'permission',
    tool: '1',
    kind: 'execute',
    title: 'make',
    outcome: 'reject_once',
    by: 'ada',
  };
  const end: AcpLine = { acp: 'end', stop_reason: 'end_turn', error: null };
  const stopped = reading();
  for (const each of [refusal, tool('1', 'make', 'failed'), end]) stopped.says(each);
  assert.deepEqual(stopped.facts().end, {
    ok: false,
    code: 'permission_denied',
    text: 'refused by ada: execute make',
    resetAt: null,
  });
  const another = reading();
  for (const each of [refusal, { acp: 'message', text: 'I did it by hand.' } as const, end])
    another.says(each);
  assert.deepEqual(another.facts().end, { ok: true });
});

test('lines in another form are left unchanged', () => {
  const { readLine, facts } = reading();
  for (const text of [
    '{"acp":"tool"',
    '{"acp":"unheard_of"}',
    '{"acp":"session","id":"x"}',
    '{"other":1}',
    '',
  ]) {
    assert.equal(readLine(text), text);
  }
  assert.equal(facts().isStream, false);
});

test('a normal end is invalid after a failure without a successor, a refusal, or an empty run', () => {
  const ended = (...lines: AcpLine[]): string => {
    const { says, facts } = reading();
    says({ acp: 'session', id: 's', agent: { name: 'Copilot', version: null }, model: null });
    for (const line of [...lines, { acp: 'end', stop_reason: 'end_turn', error: null } as const]) says(line);
    const { end } = facts();
    return end === null ? 'none' : end.ok ? 'ok' : end.code;
  };
  const notice: AcpLine = { acp: 'notice', text: 'Info: Operation cancelled by user' };
  const message: AcpLine = { acp: 'message', text: 'Done.' };
  const error = (text: string): AcpLine => ({ acp: 'error', code: 0, message: text, reset_at: null, at: 0 });
  const refusal = { tool: '1', kind: 'execute', title: 'make', outcome: 'reject_once', by: 'ada' } as const;
  assert.equal(ended(notice, error('Authentication failed with provider (HTTP 401).')), 'auth_failed');
  assert.equal(ended(error('retried 5 times. Last error: 500 no'), notice), 'model_error');
  assert.equal(ended(error('401 Unauthorized'), message), 'ok');
  assert.equal(ended({ acp: 'permission', ...refusal }, notice), 'permission_denied');
  assert.equal(ended({ acp: 'permission', ...refusal }, message), 'ok');
  assert.equal(ended(), 'agent_error');
  assert.equal(ended(notice), 'agent_error');
});
