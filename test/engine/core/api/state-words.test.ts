import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findStateStyle } from '../../../../cli/paint.ts';
import { DECISION_STATES } from '../../../../engine/board/decisions/index.ts';
import {
  nameSessionState,
  nameTaskState,
  OTHER_WORDS,
  SESSION_WORDS,
  TASK_WORDS,
} from '../../../../engine/core/api/state-words.ts';
import { DELIVERY_STATES } from '../../../../engine/notify/rows.ts';
import { WORKTREE_STATES } from '../../../../engine/workers/runner/worktrees/inspect/states.ts';
import { getStateStyle } from '../../../../tui/panes/states.ts';

const LATER = '2999-01-01T00:00:00.000Z';

describe('the display name of a state', () => {
  test("the name of a task's state says what it waits for", () => {
    const task = { status: 'assigned', session_id: 's-1', resume_at: null } as const;
    assert.equal(nameTaskState(task), 'queued');
    assert.equal(nameTaskState({ ...task, resume_at: LATER }), 'paused');
    assert.equal(nameTaskState({ ...task, session_id: null }), 'assigned');
    assert.equal(nameTaskState({ ...task, session_id: null, waits: true }), 'waits');
    assert.equal(nameTaskState({ ...task, status: 'done' }), 'done');
  });

  test('a session is named ready, done or failed at its end, and later by what became of its work', () => {
    const ended = {
      state: 'ended',
      stop_reason: null,
      resume_at: null,
      branch_state: null,
      promoted_at: null,
      commits: 1,
      failure: null,
    } as const;
    assert.equal(nameSessionState(ended), 'ready');
    assert.equal(nameSessionState({ ...ended, failure: { code: 'timeout' } }), 'failed');
    assert.equal(nameSessionState({ ...ended, promoted_at: LATER }), 'merged');
    assert.equal(nameSessionState({ ...ended, promoted_at: LATER, commits: 0 }), 'done');
    assert.equal(nameSessionState({ ...ended, branch_state: 'discarded' }), 'discarded');
    const live = { ...ended, state: 'running' } as const;
    assert.equal(nameSessionState(live), 'running');
    assert.equal(nameSessionState(live, 0, true), 'blocked');
    assert.equal(nameSessionState({ ...live, stop_reason: 'cancelled' }, 0, true), 'stopping');
    assert.equal(nameSessionState({ ...live, state: 'queued', resume_at: LATER }, 0), 'paused');
  });

  test('every state of the engine is in the table', () => {
    assert.deepEqual(Object.keys(OTHER_WORDS['a decision']), DECISION_STATES);
    assert.deepEqual(Object.keys(OTHER_WORDS['a delivery']).sort(), [...DELIVERY_STATES].sort());
    assert.deepEqual(Object.keys(OTHER_WORDS['a worktree']).sort(), [...WORKTREE_STATES].sort());
  });

  test('a state has a style in both interfaces or in neither', () => {
    const words = [...Object.keys(TASK_WORDS), ...Object.keys(SESSION_WORDS)];
    const plain = ['assigned'];
    for (const word of words.filter((each) => !plain.includes(each)))
      assert.ok(findStateStyle(word) !== undefined && getStateStyle(word) !== undefined, word);
  });
});
