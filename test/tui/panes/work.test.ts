import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import stringWidth from 'string-width';
import type { ShownSession } from '../../../tui/state/rows.ts';
import {
  askRow,
  type Bench,
  bench,
  decisionRow,
  NOW,
  sessionRow,
  showEvidence,
  showWork,
  taskRow,
} from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const minutesAgo = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();
const runningRow = (id: number, more: Partial<ShownSession> = {}): ShownSession =>
  sessionRow(id, { state: 'running', ended_at: null, commits: null, ...more });
const failure = { code: 'exit', text: 'exit code 3' };

/** One task of each kind. */
const openBoard = (columns = 140, rows = 40): Bench =>
  bench(columns, rows).data({
    tasks: [
      taskRow(1, { status: 'running', session_id: 's-1' }),
      taskRow(2, { status: 'open' }),
      taskRow(3, { status: 'done', session_id: 's-3' }),
      taskRow(4, { status: 'failed', session_id: 's-4', failure, ended_at: minutesAgo(3) }),
      taskRow(5, { status: 'failed', failure: { code: 'denied', text: 'no' }, ended_at: minutesAgo(2) }),
      taskRow(6, { waits: true, decision_id: 'd-6' }),
      taskRow(7, { status: 'running', session_id: 's-7' }),
      taskRow(8, { status: 'done', session_id: 's-8', ended_at: minutesAgo(9) }),
    ],
    sessions: [
      runningRow(1),
      sessionRow(3),
      sessionRow(4, { failure }),
      runningRow(7),
      sessionRow(8, {
        promoted_at: minutesAgo(8),
        branch_state: 'merged',
        worktree: null,
        ended_at: minutesAgo(9),
      }),
    ],
    decisions: [decisionRow(6)],
    asks: [askRow(31, { from_session: 's-7', task_id: 't-7' })],
    complete: true,
  });
const idsOf = (dash: Bench): readonly string[] => dash.state().lists.work.ids;
const readScreen = (dash: Bench): string => screenOf(dash.state()).join('\n');

describe('the list of work', () => {
  it('the list has each task once, by what it asks of the person', () => {
    const dash = openBoard();
    assert.deepEqual(idsOf(dash), ['t-7', 't-6', 't-3', 't-4', 't-1', 't-2', 't-5', 't-8']);
    assert.deepEqual(dash.state().lists.work.sections, [4, 1, 1, 2]);
    const heads = [...readScreen(dash).matchAll(/(needs you|running|waiting|done) (\d) (?:─| +agent)/g)].map(
      ([, name, count]) => `${name} ${count}`,
    );
    assert.deepEqual(heads, ['needs you 4', 'running 1', 'waiting 1', 'done 2']);
  });

  it('the screen opens on the most urgent row, and the header says what needs the person', () => {
    const dash = openBoard();
    assert.equal(dash.state().lists.work.selected, 't-7');
    assert.match(
      screenOf(dash.state())[0] ?? '',
      /svc · acme · 1 ask \(5m\) · 1 to decide · 1 to review · 1 failed/,
    );
    assert.doesNotMatch(screenOf(bench(140, 40).data({ complete: true }).state())[0] ?? '', /to |failed|ask/);
  });

  it('. goes to the most urgent row from anywhere, then to the next ones', () => {
    const dash = openBoard().keys('G', '.');
    const seen = ['t-7', 't-6', 't-3', 't-4', 't-7'].map(() => {
      const { selected } = dash.state().lists.work;
      dash.keys('.');
      return selected;
    });
    assert.deepEqual(seen, ['t-7', 't-6', 't-3', 't-4', 't-7']);
    assert.equal(dash.keys('j', 'j', '2', '.').state().lists.work.selected, 't-7');
  });

  it('a row keeps the cursor while its task goes from a decision to a run to a review', () => {
    const dash = openBoard().keys('.');
    assert.equal(dash.state().lists.work.selected, 't-6');
    dash.data({
      decisions: [decisionRow(6, { state: 'approved' })],
      tasks: [taskRow(6, { status: 'running', session_id: 's-6' })],
      sessions: [runningRow(6)],
    });
    assert.equal(dash.state().lists.work.selected, 't-6');
    assert.match(readScreen(dash), /▶t-6 +running/);
    dash.send({ type: 'keys', keys: ['x'], at: dash.state().now + 100 });
    assert.match(dash.state().message?.text ?? '', /has just moved/, 'its keys mean something else now');
    dash.data({ sessions: [sessionRow(6)], tasks: [taskRow(6, { status: 'done', session_id: 's-6' })] });
    assert.match(readScreen(dash), /▶t-6 +ready/);
  });

  it('a race has its runs below its task, and needs a person once all of them have ended', () => {
    const racer = (id: number, more: Partial<ShownSession> = {}): ShownSession =>
      runningRow(id, { task_id: 't-1', race: 9, ...more });
    const dash = bench(140, 40).data({
      tasks: [taskRow(1, { status: 'running', race: 9 }), taskRow(2)],
      sessions: [racer(11), racer(12)],
      complete: true,
    });
    assert.deepEqual(idsOf(dash), ['t-1', 's-11', 's-12', 't-2']);
    assert.match(readScreen(dash), /t-1 +racing .*\n.*└s-11 +running .*\n.*└s-12 +running/);
    const ended = { state: 'ended' as const, ended_at: minutesAgo(1), commits: 1 };
    dash.data({ sessions: [racer(11, ended), racer(12, ended)] });
    assert.deepEqual(dash.state().lists.work.sections, [3, 0, 1, 0]);
    assert.match(readScreen(dash), /t-1 +pick one/);
    assert.match(screenOf(dash.state())[0] ?? '', /1 race to pick from/);
  });

  it('an earlier run is listed as long as it has work to read, discard or restore', () => {
    const dash = bench().data({
      tasks: [taskRow(1, { status: 'done', session_id: 's-3' })],
      sessions: [
        sessionRow(1, { task_id: 't-1', branch_state: 'continued' }),
        sessionRow(2, { task_id: 't-1', failure }),
        sessionRow(3, { task_id: 't-1' }),
      ],
      complete: true,
    });
    assert.deepEqual(idsOf(dash), ['t-1', 's-2']);
    dash.data({
      sessions: [sessionRow(2, { task_id: 't-1', failure, worktree: null, branch_state: 'gone' })],
    });
    assert.deepEqual(idsOf(dash), ['t-1']);
  });

  it('a session that does not belong to a task asks in a row without one', () => {
    const dash = bench().data({ asks: [askRow(5, { from_session: 'mine', task_id: null })], complete: true });
    assert.deepEqual(idsOf(dash), ['ask-5']);
    assert.match(readScreen(dash), /▶ask-5 +asks 5m/);
  });

  it('a sort order applies within each section, and a filter finds a row by any of its ids', () => {
    const dash = openBoard().keys('>', '^');
    assert.deepEqual(idsOf(dash), ['t-7', 't-6', 't-4', 't-3', 't-1', 't-2', 't-8', 't-5']);
    dash.keys('/').send({ type: 'paste', text: 'd-6' });
    assert.deepEqual(idsOf(dash), ['t-6']);
    dash.keys('ctrl+u').send({ type: 'paste', text: 'status:failed' });
    assert.deepEqual(idsOf(dash), ['t-4', 't-5']);
  });
});

describe('the space of the list and the text', () => {
  const many = (count: number): ReturnType<typeof taskRow>[] =>
    Array.from({ length: count }, (_, at) => taskRow(at + 1, { title: '日本語 '.repeat(9) }));

  for (const [columns, rows] of [
    [80, 24],
    [120, 34],
    [140, 40],
    [200, 50],
  ] as const)
    for (const count of [0, 3, 300])
      it(`the screen of ${columns}x${rows} is filled exactly with ${count} rows of work, at any place in them`, () => {
        const dash = bench(columns, rows).data({ tasks: many(count), complete: true });
        for (const keys of [[], ['G'], ['ctrl+b'], ['k', 'k'], ['tab'], ['esc', 'z']]) {
          const lines = screenOf(dash.keys(...keys).state());
          assert.equal(lines.length, rows);
          for (const line of lines) assert.ok(stringWidth(line) <= columns, line);
          if (count > 0)
            assert.ok(
              lines.some((line) => /[▶•]t-/.test(line)),
              `${keys}`,
            );
        }
      });

  it('a short list has the rows that it needs, and the diff of an ended run the whole right side', () => {
    const dash = bench(140, 40).data({ sessions: [sessionRow(1)], complete: true });
    showEvidence(showWork(dash, 1), 1);
    const lines = screenOf(dash.state());
    const end = lines.findIndex((line) => line.startsWith('╚'));
    assert.ok(end > 0 && end < 10, lines.join('\n'));
    assert.match(lines[end + 1] ?? '', /^╭─ facts ─/);
    const right = lines.map((line) => line.slice(63));
    assert.match(right[2] ?? '', /─ t-1 s-1 work ─/);
    assert.ok(right.some((line) => line.includes('+world')));
    assert.match(right[38] ?? '', /^╰─+╯$/);
  });

  it('a small screen shows six of ten running tasks below what needs the person, and whole words as tabs', () => {
    const ids = Array.from({ length: 10 }, (_, index) => index + 1);
    const dash = bench(80, 24).data({
      tasks: [
        ...ids.map((id) => taskRow(id, { status: 'running', session_id: `s-${id}` })),
        taskRow(11, { waits: true, decision_id: 'd-11' }),
        ...many(289).map((row, index) => ({ ...row, task_id: `t-${index + 12}` })),
      ],
      sessions: ids.map((id) => runningRow(id)),
      decisions: [decisionRow(11)],
      complete: true,
    });
    const lines = screenOf(dash.state());
    assert.match(lines[3]!, / needs you 1 +agent +age +work title /);
    assert.match(lines[5]!, / running 10 ─/);
    assert.equal(lines.filter((line) => /^║ +t-\d+ +running /.test(line)).length, 6);
    assert.equal(lines[1], ' [1 Work 300] 2 Bus 0  3 Events  4 Usage  5 Memory 0  6 Deliveries  7  8  9');
    for (const columns of [60, 70, 80, 90, 120])
      for (const word of screenOf(
        dash.send({ type: 'resize', size: { columns, rows: 24 } }).state(),
      )[1]!.match(/[A-Z][a-z]*/g)!)
        assert.match(word, /^(?:Work|Bus|Events|Usage|Memory|Deliveries|Stats|Projects|Runners)$/);
  });

  it('the name of a section is in the line of the columns once it is the first on the screen', () => {
    const dash = openBoard().data({
      tasks: many(60).map((row, at) => ({ ...row, task_id: `t-${at + 20}` })),
    });
    const lines = screenOf(dash.keys('G', 'k', 'k').state());
    assert.match(lines[3]!, /^║ +waiting 61 +agent +age /);
    assert.match(lines.join('\n'), /^║ +done 2 ─.*\n║ +t-5 /m);
  });

  it('an empty list has the whole screen, unless a filter found nothing', () => {
    const empty = bench(140, 40).data({ complete: true });
    assert.match(readScreen(empty), /Nothing waits for you/);
    assert.doesNotMatch(readScreen(empty), /─ (?:facts|preview) ─/);
    assert.match(readScreen(openBoard(140, 40).keys('/', 'x', 'q')), /Nothing matches[\s\S]*─ facts ─/);
  });

  it('ui.yaml chooses if list and text are side by side', () => {
    const shown = (columns: number, rows: number, layout: 'auto' | 'tabs' | 'panes'): boolean => {
      const dash = bench(columns, rows).data({ tasks: [taskRow(1)] });
      dash.send({
        type: 'replace',
        change: (state) => ({ ...state, preferences: { ...state.preferences, layout } }),
      });
      return readScreen(dash).includes('─ facts ─');
    };
    assert.deepEqual(
      [shown(129, 40, 'auto'), shown(130, 30, 'auto'), shown(200, 50, 'tabs'), shown(100, 20, 'panes')],
      [false, true, false, true],
    );
    assert.equal(shown(99, 40, 'panes'), false);
  });

  it('Tab gives the keyboard to the text next to the list, where its keys work, and back', () => {
    const dash = bench(140, 40).data({ sessions: [sessionRow(1)], complete: true });
    showWork(dash, 1).keys('tab');
    assert.equal(dash.state().view, 'text');
    assert.match(readScreen(dash), /╭─ 1 Work .*╔═ t-1 s-1 work/);
    assert.match(readScreen(dash.keys('c')), /▶/);
    assert.notEqual(dash.state().diffCursor, null);
    assert.equal(dash.keys('esc', 'tab').state().view, 'list');
    assert.equal(dash.keys('2', 'tab').state().focus, 'bus');
  });
});
