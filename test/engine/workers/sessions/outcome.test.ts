import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  decideOutcome,
  type OwnWord,
  type WorkLeft,
  workLeftBy,
} from '../../../../engine/workers/sessions/outcome.ts';

const WORDS: OwnWord[] = [null, 'done', 'failed'];
const LEFT: WorkLeft[] = ['some', 'none', 'unreadable', 'in_place', 'nothing_begun'];
const exited = { code: 'exit_code', text: 'it exited with code 1' };

describe('the outcome of a run', () => {
  test('a run succeeded only when it ended well and its worker did not report a failure', () => {
    for (const word of WORDS)
      for (const left of LEFT)
        for (const failure of [null, exited]) {
          const { status, failure: decided } = decideOutcome(word, failure, left, { mayRetry: true });
          const isWell = failure === null && word !== 'failed';
          assert.equal(status, isWell ? 'done' : 'failed', `${word} ${left} ${failure?.code}`);
          assert.equal(decided === null, isWell);
        }
    assert.equal(decideOutcome('failed', null, 'some', { mayRetry: true }).failure?.code, 'reported');
  });

  test("an outcome quotes the worker's report where the end contradicts it, or agrees for another reason", () => {
    const said = (word: OwnWord, failure: typeof exited | null) =>
      decideOutcome(word, failure, 'some', { mayRetry: true }).contradiction;
    assert.deepEqual([said(null, null), said('done', null), said(null, exited)], [null, null, null]);
    assert.equal(said('failed', null), null);
    assert.match(said('done', exited) ?? '', /had marked the task done/);
    assert.match(said('failed', exited) ?? '', /had marked the task failed/);
  });

  test('a retry is offered exactly where the task allows one, and a promotion only after success', () => {
    for (const word of WORDS)
      for (const left of LEFT)
        for (const failure of [null, exited])
          for (const mayRetry of [true, false]) {
            const { status, next } = decideOutcome(word, failure, left, { mayRetry });
            assert.equal(next.includes('retry'), status === 'failed' && mayRetry);
            assert.equal(next.includes('promote'), status === 'done' && left === 'some');
            assert.equal(next.includes('find_work'), left === 'unreadable');
          }
    const dropped = decideOutcome(null, { code: 'inputs_changed', text: '' }, 'some', { mayRetry: true });
    assert.deepEqual(dropped.next, ['decide']);
  });

  test('an outcome is the same when it is read again from the record', () => {
    for (const word of WORDS)
      for (const failure of [null, exited]) {
        const first = decideOutcome(word, failure, 'some', { mayRetry: true });
        assert.deepEqual(decideOutcome(word, first.failure, 'some', { mayRetry: true }), first);
      }
  });

  test('unreadable commits are distinguished from none', () => {
    const run = { branch: 'svc/s-1', cwd: '/x', repository: '/r', commits: null };
    assert.equal(workLeftBy(run), 'unreadable');
    assert.equal(workLeftBy({ ...run, commits: 0 }), 'none');
    assert.equal(workLeftBy({ ...run, branch: null }), 'unreadable');
    assert.equal(workLeftBy({ ...run, branch: null, commits: 2 }), 'in_place');
    assert.equal(workLeftBy({ ...run, branch: null, repository: null }), 'in_place');
    assert.equal(workLeftBy({ ...run, cwd: null }), 'nothing_begun');
    assert.equal(workLeftBy({ ...run, cwd: null, commits: 2 }), 'some');
  });
});
