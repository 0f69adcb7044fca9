import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeBase32, findCodeStep, makeCode } from '../../../engine/link/decide-code.ts';
import { buildLinkEvent, isVouchedFor, outgoingTitle } from '../../../engine/link/outgoing.ts';
import { describeCode, describeWait } from '../../../engine/link/own-words.ts';

test('a title is sent as server.titles allows', () => {
  const task = { title: 'first line of the prompt', template: null, agent: 'claude' };
  const made = { isTitleGiven: false };
  const given = { isTitleGiven: true };
  assert.equal(outgoingTitle(task, made, ''), 'claude');
  assert.equal(outgoingTitle(task, given, ''), task.title);
  assert.equal(outgoingTitle(task, made, 'given'), 'claude');
  assert.equal(outgoingTitle(task, made, 'all'), task.title);
  assert.equal(outgoingTitle(task, given, 'none'), 'claude');
  assert.equal(outgoingTitle({ ...task, template: 'fix' }, made, ''), 'fix');
  assert.equal(outgoingTitle({ ...task, agent: null }, made, ''), null);
  const long = outgoingTitle({ ...task, title: '\u{1f600}'.repeat(500) }, given, '') ?? '';
  assert.ok(long.length <= 200 && long.isWellFormed());
});

test('the name of a failed check is sent unless server.titles sends no titles', () => {
  const data = {
    ...{ number: 7, url: 'https://code.example/acme/shop/pull/7', state: 'open' },
    checks: { state: 'failed', failed: 'deploy to secret.example' },
  };
  const event = {
    ...{ seq: 1, kind: 'pull_request' as const, at: '2026-11-30T06:00:00.000Z', actor: 'svc' },
    ...{ via: 'engine' as const, taskId: 't-1', decisionId: null, sessionId: 's-1', data },
  };
  const readChecks = (titles: 'given' | 'none') =>
    buildLinkEvent(event, null, null, { id: 'e-1', titles }).pull_request?.checks;
  assert.deepEqual(readChecks('given'), data.checks);
  assert.deepEqual(readChecks('none'), { state: 'failed', failed: null });
});

test("the reason why a decision waits is sent in svc's own words only", () => {
  const whole = 'the request did not carry one (webhook.require_approval)';
  const said = 'the request did not carry an approval (webhook.require_approval)';
  assert.equal(describeWait(whole, null), said);
  assert.equal(
    describeWait('what would run has changed since d-7: prompt, base branch', null),
    'what would run has changed since d-7: prompt, base branch',
  );
  assert.equal(describeWait('the prompt was edited by secret', null), 'the prompt was edited');
  assert.equal(describeWait('/home/ann/secret.md has an open question', null), 'a person must review it');
  assert.equal(describeWait(`untrusted author: secret; ${whole}`, 'secret'), `untrusted author; ${said}`);
  assert.equal(
    describeWait('what would run has changed since d-7: prompt\nsecret', null),
    'a person must review it',
  );
  assert.equal(describeCode('secret'), null);
  assert.equal(describeCode(undefined), null);
  assert.match(describeCode('timeout') ?? '', /^timeout: it reached its time limit/);
});

test('only requests that the code host vouches for can be approved from outside', () => {
  const from = (source: 'codehost' | 'task', stranger: string | null, isVouched: boolean): boolean =>
    isVouchedFor({ source, stranger }, { isVouched });
  assert.equal(from('task', null, false), true);
  assert.equal(from('codehost', null, true), true);
  // Listed in policy.actors on this machine, which is not visible outside.
  assert.equal(from('codehost', null, false), false);
  assert.equal(from('codehost', 'unknown', true), false);
  assert.equal(from('task', 'unknown', false), false);
});

test('one-time codes follow RFC 6238, appendix B, and are valid once', () => {
  const secret = Buffer.from('12345678901234567890');
  const times: [number, string][] = [
    [59, '287082'],
    [1111111109, '081804'],
    [1111111111, '050471'],
    [1234567890, '005924'],
    [2000000000, '279037'],
    [20000000000, '353130'],
  ];
  for (const [seconds, code] of times) assert.equal(makeCode(secret, Math.floor(seconds / 30)), code);
  const now = 59_000;
  assert.equal(findCodeStep(secret, '287082', 0, now), 1);
  assert.equal(findCodeStep(secret, '287082', 1, now), null);
  assert.equal(findCodeStep(secret, '287082', 0, now + 30_000), 1);
  assert.equal(findCodeStep(secret, '287082', 0, now + 61_000), null);
  assert.equal(findCodeStep(secret, '28708', 0, now), null);
  assert.equal(findCodeStep(secret, '', 0, now), null);
  // RFC 4648, section 10.
  assert.equal(encodeBase32(Buffer.from('foobar')), 'MZXW6YTBOI');
});
