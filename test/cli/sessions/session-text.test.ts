import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describeNextStep, describeWait, formatSession } from '../../../cli/sessions/session-text.ts';
import { sessionRow } from '../../support/terminals/dashboard.ts';

const at = '2030-01-01T00:00:00.000Z';

describe('why a session waits', () => {
  test('the next step of a session is the command that resumes it', () => {
    const paused = sessionRow(1, {
      state: 'queued',
      resume_at: at,
      pause: { code: 'usage_limit', text: 'used up' },
    });
    assert.match(describeWait(paused) ?? '', /^paused until 20.*: used up; svc worker resume s-1 /);
    const held = {
      agent: 'claude',
      failures: 3,
      code: 'auth_failed',
      text: 'no login',
      opened_at: at,
      reopen_at: at,
    };
    const behind = sessionRow(2, { state: 'queued', held });
    assert.match(describeWait(behind) ?? '', /3 times in a row \(auth_failed\); svc agents reset claude /);
    assert.match(describeWait(sessionRow(3, { state: 'queued' })) ?? '', /free worker slot/);
    const running = sessionRow(4, { state: 'running' });
    assert.equal(describeWait(running), null);
    const ask = { id: 7, from_session: 's-4', question: 'May I?' };
    assert.equal(describeWait(running, ask), 'asks: May I? (svc ask show 7)');
  });
});

describe('a session that failed', () => {
  const failed = sessionRow(1, {
    state: 'ended',
    pid: 4711,
    failure: { code: 'cancelled', text: 'cancelled' },
    started_at: at,
    ended_at: '2030-01-01T00:00:14.000Z',
    worktree: '/somewhere',
  });

  test('a failed session names the next step, and offers resuming only where its worktree exists', async () => {
    const next = async (more: Partial<typeof failed>, mayRetry = true): Promise<string> =>
      (await describeNextStep({ ...failed, ...more }, { mayRetry })) ?? 'nothing';
    assert.match(await next({}), /svc worker resume s-1 .*svc task retry t-1 /);
    assert.doesNotMatch(await next({ worktree: null, inplace: false }), /resume/);
    assert.doesNotMatch(await next({}, false), /retry|resume/);
    const well = { failure: null, branch: 'svc/s-1' };
    assert.match(await next({ ...well, commits: 1 }), /^svc diff s-1 .*; then svc merge s-1 /);
    assert.equal(await next({ ...well, commits: 0 }), 'nothing');
    assert.equal(await next({ ...well, commits: 1, promoted_at: at }), 'nothing');
    assert.match(await next({ ...well, cwd: '/x', commits: null }), /^check \/somewhere by hand/);
  });

  test('a failed session is shown without a process id, which may belong to another process by now', () => {
    const text = formatSession(failed, { next: null });
    assert.doesNotMatch(text, /4711/);
    assert.match(text, /^failure +cancelled$/m);
    assert.match(text, /^ended .*, after 14s$/m);
  });
});
