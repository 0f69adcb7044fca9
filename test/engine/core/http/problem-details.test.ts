import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SvcError } from '../../../../engine/core/base/errors.ts';
import { problemDetails } from '../../../../engine/core/http/problem-details.ts';

test('a client receives code, message, hint and public facts', () => {
  const error = new SvcError('not_found', 'no task t-9', {
    hint: 'GET /tasks',
    data: { task_id: 't-9', path: '/home/ada/secret' },
  });
  assert.deepEqual(problemDetails(error), {
    type: 'urn:svc:problem:not_found',
    title: 'not found',
    status: 404,
    detail: 'no task t-9',
    code: 'not_found',
    hint: 'GET /tasks',
    task_id: 't-9',
  });
});

test('an internal error reveals nothing about this machine', () => {
  for (const thrown of [
    new SvcError('storage_full', '/home/ada/x is full', { hint: 'rm /home/ada/y', data: { task_id: 't-1' } }),
    new Error('/home/ada/x'),
    '/home/ada/x',
  ]) {
    const details = problemDetails(thrown);
    assert.ok(details.status >= 500);
    assert.doesNotMatch(JSON.stringify(details), /ada|t-1/);
    assert.equal(details.type, `urn:svc:problem:${details.code}`);
  }
  assert.match(problemDetails(new SvcError('storage_full', 'x')).detail, /^the disk is full;/);
});

test('a hint about files of this machine is withheld', () => {
  const error = new SvcError('ledger_gate', 'the ledger is open', { hint: 'write .svc/ledger/x.md' });
  assert.equal(problemDetails(error).hint, undefined);
});
