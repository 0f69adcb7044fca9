import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Bench, bench, sessionRow, showComments, showWork } from '../../support/terminals/dashboard.ts';

const openWorkers = (...sessions: ReturnType<typeof sessionRow>[]): Bench => bench().data({ sessions });
const ended = (id: number, more = {}) => sessionRow(id, { worktree: `/w/s-${id}`, ...more });

describe('a follow-up to an ended worker', () => {
  it('F and y open the follow-up, which is then written in the editor', () => {
    const fetching = openWorkers(ended(1)).keys('F');
    assert.match(fetching.state().message?.text ?? '', /still being fetched/);
    const dash = showComments(showWork(fetching, 1), 1, []).keys('F');
    assert.match(dash.state().armed?.question ?? '', /Write the next instructions for s-1/);
    const effect = dash
      .keys('y')
      .effects()
      .find((each) => each.do === 'edit')!;
    assert.deepEqual(dash.calls(), []);
    dash.send({ type: 'edited', effect: effect as never, text: ' \n' });
    assert.deepEqual(dash.calls(), []);
    dash.send({ type: 'edited', effect: effect as never, text: 'Add a test\n' });
    assert.deepEqual(dash.calls(), [
      { operation: 'worker.follow_up', input: { session: 's-1', prompt: 'Add a test\n' } },
    ]);
  });

  it('a follow-up needs an ended worker, whose worktree exists, without a follow-up', () => {
    const say = (...sessions: ReturnType<typeof sessionRow>[]): string => {
      const dash = openWorkers(...sessions).keys('F');
      assert.equal(dash.state().armed, null);
      return dash.state().message?.text ?? '';
    };
    assert.match(say(ended(1, { state: 'running', ended_at: null })), /has not ended/);
    assert.match(say(sessionRow(1, { worktree: null, inplace: false })), /no longer there/);
  });
});
