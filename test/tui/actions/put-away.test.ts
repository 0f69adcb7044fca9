import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Bench, bench, sessionRow, taskRow } from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const openWorkers = (...sessions: ReturnType<typeof sessionRow>[]): Bench => bench().data({ sessions });
const ended = (more = {}) => sessionRow(1, { worktree: '/w/s-1', ...more });

const refusalOf = (dash: Bench): string => dash.state().message?.text ?? '';
const refusal = (dash: Bench): string => {
  assert.equal(dash.state().armed, null);
  assert.deepEqual(dash.calls(), []);
  return dash.state().message?.text ?? '';
};

describe('discarding the work of a worker', () => {
  it('X and y discard, and U and y restore', () => {
    const dash = openWorkers(ended()).keys('X');
    assert.match(dash.state().armed?.question ?? '', /Discard svc\/s-1 and its worktree/);
    dash.keys('y');
    assert.deepEqual(dash.calls(), [{ operation: 'worktree.discard', input: { session: 's-1' } }]);
    const back = openWorkers(ended({ worktree: null, branch_state: 'discarded' })).keys('U');
    assert.match(back.state().armed?.question ?? '', /Bring svc\/s-1 back/);
    back.keys('y');
    assert.deepEqual(back.calls(), [
      { operation: 'worktree.restore', input: { session: 's-1', worktree: true } },
    ]);
  });

  it('U during a discard asks as soon as it is done, and never about another task', () => {
    const archived = taskRow(9, { archived_at: '2026-03-01T11:59:00Z' });
    const dash = openWorkers(ended())
      .data({ tasks: [archived] })
      .keys('X', 'y', 'U');
    assert.match(refusalOf(dash), /undo: it asks as soon as s-1 is done/);
    const effect = dash.effects().find((each) => each.do === 'call');
    assert.ok(effect?.do === 'call');
    dash.send({ type: 'answered', effect, answer: { has_files: false } as never });
    assert.equal(dash.state().armed, null);
    dash.data({ sessions: [ended({ worktree: null, branch_state: 'discarded' })] });
    assert.match(dash.state().armed?.question ?? '', /Bring svc\/s-1 back/);
    const moved = openWorkers(ended()).keys('X', 'y', 'U', 'j');
    moved.data({ sessions: [ended({ worktree: null, branch_state: 'discarded' })] });
    assert.equal(moved.state().armed, null);
  });

  it('the result of U is readable at 80 columns, wherever the worktree is', () => {
    const row = ended({ worktree: null, branch_state: 'discarded', branch: 'svc/s-1' });
    const dash = bench(80, 24)
      .data({ sessions: [row] })
      .keys('U', 'y');
    const effect = dash.effects().findLast((each) => each.do === 'call');
    assert.ok(effect?.do === 'call');
    const answer = {
      branch: 'svc/s-1',
      head: 'a'.repeat(40),
      worktree: `/home/${'a-long-name/'.repeat(9)}s-1`,
    };
    dash.send({ type: 'answered', effect, answer });
    assert.match(screenOf(dash.state()).join('\n'), /✓ svc\/s-1 is back, with its worktree *\n/);
  });

  it('the question is withdrawn when someone else has discarded the work', () => {
    const dash = openWorkers(ended()).keys('X');
    dash.data({ sessions: [ended({ worktree: null, branch_state: 'discarded' })] });
    dash.keys('y');
    assert.deepEqual(dash.calls(), []);
  });

  it('one question covers all marked rows, and leaves out rows that cannot be discarded', () => {
    const rows = [1, 2, 3].map((id) =>
      sessionRow(id, { worktree: `/w/s-${id}`, ...(id === 2 ? { branch_state: 'continued' as const } : {}) }),
    );
    const dash = openWorkers(...rows).keys('*', 'X');
    assert.deepEqual(dash.calls(), []);
    const text = screenOf(dash.state()).join('\n');
    assert.match(text, /put away 2 of 3 marked\?/);
    assert.match(text, /t-2: a later run continued s-2/);
    dash.keys('y');
    assert.deepEqual(
      dash
        .calls()
        .map(({ operation, input }) => `${operation} ${JSON.stringify(input)}`)
        .sort(),
      ['worktree.discard {"session":"s-1"}', 'worktree.discard {"session":"s-3"}'],
    );
  });

  it('a session that runs, that a later run has, or whose branch is gone cannot be discarded', () => {
    const say = (more: object) => refusal(openWorkers(ended(more)).keys('X'));
    assert.match(say({ state: 'running', ended_at: null }), /is still running/);
    assert.match(say({ branch_state: 'continued', worktree: null }), /a later run continued/);
    assert.match(say({ branch_state: 'gone', worktree: null }), /is gone/);
    assert.match(say({ branch_state: 'discarded', worktree: null }), /U brings it back/);
    assert.match(say({ promoted_at: '2026-03-01T11:00:00Z', worktree: null }), /was merged/);
  });
});

describe('undoing a promotion', () => {
  it('U and y undo a promotion, on a worker that was promoted', () => {
    const dash = openWorkers(ended({ promoted_at: '2026-03-01T11:00:00Z' })).keys('U');
    assert.match(dash.state().armed?.question ?? '', /Undo the promotion of svc\/s-1 into main/);
    dash.keys('y');
    assert.deepEqual(dash.calls(), [{ operation: 'worktree.undo', input: { session: 's-1' } }]);
    assert.match(refusal(openWorkers(ended()).keys('U')), /neither discarded nor promoted/);
  });
});

describe('archiving a task', () => {
  const openTasks = (...tasks: ReturnType<typeof taskRow>[]): Bench => bench().data({ tasks });

  it('X and y archive; the list leaves the task out, and U and y restore it', () => {
    const dash = openTasks(taskRow(1, { status: 'done', ended_at: '2026-03-01T11:00:00Z' })).keys('X', 'y');
    assert.deepEqual(dash.calls(), [{ operation: 'task.archive', input: { ids: ['t-1'] } }]);
    const later = openTasks(
      taskRow(1, { archived_at: '2026-03-01T11:00:00Z' }),
      taskRow(2, { archived_at: '2026-03-01T11:30:00Z' }),
      taskRow(3),
    );
    assert.deepEqual(later.state().lists.work.ids, ['t-3']);
    later.keys('U', 'y');
    assert.deepEqual(later.calls(), [{ operation: 'task.unarchive', input: { ids: ['t-2'] } }]);
  });

  it('one question covers all marked tasks; a refused one is not reported as done', () => {
    const done = { status: 'done', ended_at: '2026-03-01T11:00:00Z' } as const;
    const dash = openTasks(taskRow(1, done), taskRow(2, done), taskRow(3, { waits: true })).keys(
      '*',
      'X',
      'y',
    );
    const effects = dash.effects().flatMap((effect) => (effect.do === 'calls' ? effect.calls : []));
    assert.deepEqual(effects.map(({ input }) => JSON.stringify(input)).sort(), [
      '{"ids":["t-1"]}',
      '{"ids":["t-2"]}',
    ]);
    for (const effect of effects) {
      const refused = effect.busy === 't-2' ? [{ id: 't-2', reason: 'it runs' }] : [];
      dash.send({ type: 'answered', effect, answer: { archived: [], refused } });
    }
    const { text = '', tone } = dash.state().message ?? {};
    assert.equal(tone, 'bad');
    assert.match(text, /put away: 1 done; 1 refused: t-2 \(it runs\); 1 left out: t-3 \(.*\); done: t-1/);
  });

  it('a refused single task is reported as refused', () => {
    const dash = openTasks(taskRow(1, { status: 'done', ended_at: '2026-03-01T11:00:00Z' })).keys('X', 'y');
    const effect = dash.effects().find((each) => each.do === 'call')!;
    dash.send({ type: 'answered', effect, answer: { refused: [{ id: 't-1', reason: 'it runs' }] } });
    assert.deepEqual(
      [dash.state().message?.text, dash.state().message?.tone],
      ['t-1 is not archived: it runs', 'bad'],
    );
  });

  it('a task that runs or waits cannot be archived', () => {
    assert.match(
      refusal(openTasks(taskRow(1, { status: 'running', session_id: 's-1' })).keys('X')),
      /worked on/,
    );
    assert.match(refusal(openTasks(taskRow(1, { waits: true })).keys('X')), /waits for a decision/);
    assert.match(refusal(openTasks(taskRow(1)).keys('U')), /no task has been archived/);
  });
});
