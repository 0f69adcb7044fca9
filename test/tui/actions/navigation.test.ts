import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KEYMAP } from '../../../tui/keymap/index.ts';
import { findBindings } from '../../../tui/overlays/key-finder.ts';
import { getLogLines } from '../../../tui/state/log.ts';
import {
  type Bench,
  bench,
  decisionRow,
  sessionRow,
  showTask,
  taskRow,
} from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const taskRows = (count: number, from = 1) =>
  Array.from({ length: count }, (_, index) => taskRow(from + index));
const getCursor = (dash: Bench) => {
  const { selected, index, top } = dash.state().lists.work;
  return { selected, index, top };
};

describe('the cursor belongs to a row', () => {
  it('arrivals never move the cursor', () => {
    const dash = bench()
      .data({ tasks: taskRows(3, 5) })
      .keys('j');
    assert.equal(getCursor(dash).selected, 't-6');
    dash.data({ tasks: [taskRow(1), taskRow(2), taskRow(9)] });
    assert.equal(getCursor(dash).selected, 't-6');
    assert.equal(getCursor(dash).index, 3);
  });

  it('the row keeps its place on the screen when rows above it come or go', () => {
    const dash = bench()
      .data({ tasks: taskRows(100, 50) })
      .keys('G');
    const before = getCursor(dash);
    dash.data({ tasks: taskRows(20, 10) });
    const after = getCursor(dash);
    assert.equal(after.selected, before.selected);
    assert.equal(after.index - after.top, before.index - before.top);
  });

  it('the cursor moves to the neighbour when its row is gone', () => {
    const dash = bench()
      .data({ decisions: [1, 2, 3].map((id) => decisionRow(id)) })
      .keys('j');
    dash.data({ decisions: [decisionRow(2, { state: 'denied' })] });
    assert.equal(getCursor(dash).selected, 't-3');
    dash.data({ decisions: [decisionRow(3, { state: 'denied' })] });
    assert.equal(getCursor(dash).selected, 't-1');
  });

  it('the cursor in Events stays on the newest while another pane has the keyboard, and with its row otherwise', () => {
    const event = (seq: number) => ({
      seq,
      at: new Date(Date.parse('2026-03-01T11:00:00Z') + seq * 1000).toISOString(),
      kind: 'task_created' as const,
      task_id: `t-${seq}`,
      decision_id: null,
      session_id: null,
      actor: null,
      via: null,
      data: {},
    });
    const selected = (dash: Bench) => dash.state().lists.events.selected;
    const dash = bench(140, 40).data({ events: [event(1)] });
    assert.equal(selected(dash.data({ events: [event(2)] })), 'e-2');
    assert.equal(selected(dash.keys('3').data({ events: [event(3)] })), 'e-2');
  });

  it('finished tasks are below the others, newest first', () => {
    const dash = bench().data({
      tasks: [
        taskRow(1, { status: 'done', ended_at: '2026-03-01T10:00:00Z' }),
        taskRow(2, { status: 'failed', ended_at: '2026-03-01T11:00:00Z' }),
        taskRow(3),
        taskRow(10),
      ],
    });
    assert.deepEqual(dash.state().lists.work.ids, ['t-3', 't-10', 't-2', 't-1']);
  });
});

describe('ten thousand tasks', () => {
  it('no key of a long burst is dropped', () => {
    const dash = bench().data({ tasks: taskRows(10_000) });
    dash.burst(...Array.from({ length: 500 }, () => 'j'));
    assert.equal(getCursor(dash).index, 500);
    dash.burst(...Array.from({ length: 200 }, () => 'k'));
    assert.equal(getCursor(dash).selected, 't-301');
    assert.equal(getCursor(dash.keys('G')).selected, 't-10000');
    assert.equal(getCursor(dash.keys('g')).selected, 't-1');
  });
});

describe('filters', () => {
  const board = (): Bench =>
    bench().data({
      tasks: [
        taskRow(1, {
          title: 'Fix the retry test',
          agent: 'claude',
          status: 'failed',
          ended_at: '2026-03-01T10:00:00Z',
        }),
        taskRow(2, {
          title: 'Fix docs',
          agent: 'codex',
          status: 'failed',
          ended_at: '2026-03-01T11:00:00Z',
        }),
        taskRow(3, { title: 'Write https://example.org/x', agent: 'claude' }),
      ],
    });
  const filtered = (text: string): readonly string[] =>
    board().keys('/').send({ type: 'paste', text }).state().lists.work.ids;

  it('fields, words, negation and quotes all combine', () => {
    assert.deepEqual(filtered('status:failed'), ['t-2', 't-1']);
    assert.deepEqual(filtered('status:failed agent:claude'), ['t-1']);
    assert.deepEqual(filtered('fix !docs'), ['t-1']);
    assert.deepEqual(filtered('!agent:codex'), ['t-3', 't-1']);
    assert.deepEqual(filtered('"retry test"'), ['t-1']);
    assert.deepEqual(filtered('https://example'), ['t-3']);
    assert.deepEqual(filtered('nothing'), []);
  });

  it('Enter keeps the filter, Esc in the line undoes it, Esc in the list clears it', () => {
    const dash = board().keys('/', 'd', 'o', 'c', 's', 'enter');
    assert.equal(dash.state().lists.work.filter, 'docs');
    dash.keys('/', 'x', 'esc');
    assert.equal(dash.state().lists.work.filter, 'docs');
    dash.keys('esc');
    assert.equal(dash.state().lists.work.filter, '');
    assert.equal(dash.state().lists.work.ids.length, 3);
  });

  it('keys typed into a filter are text, even those with an action elsewhere', () => {
    const dash = board().keys('/', 'q', 'x', 'y', '?', ':').burst('n', 'r', 'enter', 'y');
    assert.equal(dash.state().lists.work.filter, 'qxy?:nry');
    assert.deepEqual(dash.effects(), []);
  });
});

describe('Esc goes back one level', () => {
  it('Esc goes from search to full view to list', () => {
    const dash = showTask(bench().data({ tasks: taskRows(3) }), 1)
      .keys('enter', '/')
      .keys('T', 'a', 's', 'k', 'enter');
    assert.equal(dash.state().search?.query, 'Task');
    dash.keys('esc');
    assert.equal(dash.state().search, null);
    assert.equal(dash.state().view, 'full');
    assert.equal(dash.keys('esc').state().view, 'list');
  });
});

describe('. goes to pending rows', () => {
  it('. goes to decisions first, then to work to review, in a cycle', () => {
    const dash = bench().data({
      decisions: [decisionRow(1), decisionRow(2)],
      sessions: [
        sessionRow(4),
        sessionRow(5, { promoted_at: '2026-03-01T11:00:00Z' }),
        sessionRow(6, { commits: 0 }),
      ],
    });
    const seen = ['t-1', 't-2', 't-4', 't-1'].map(() => {
      const { focus, lists } = dash.state();
      const at = lists[focus].selected;
      dash.keys('.');
      return at;
    });
    assert.deepEqual(seen, ['t-1', 't-2', 't-4', 't-1']);
  });

  it('. says when nothing is pending', () => {
    assert.match(bench().keys('.').state().message?.text ?? '', /nothing waits/);
  });
});

describe('help and palette', () => {
  it('Enter does what the highlighted key does, and a dangerous one still asks', () => {
    const dash = bench().data({ tasks: taskRows(1) });
    dash.keys(':').send({ type: 'paste', text: 'cancel the task' }).keys('enter');
    assert.equal(dash.state().armed?.binding, 'stop');
    assert.deepEqual(dash.calls(), []);
  });

  it('a key of another pane leads there', () => {
    const dash = bench()
      .data({ decisions: [decisionRow(1)] })
      .keys('2');
    dash.keys('?').send({ type: 'paste', text: 'promote the branch' }).keys('enter');
    assert.equal(dash.state().focus, 'work');
    assert.equal(dash.state().armed, null);
  });
});

describe('finding an action by a word', () => {
  const firstOf = (dash: Bench, words: string): string | undefined => {
    dash.keys(':').send({ type: 'paste', text: words });
    const { overlay } = dash.state();
    if (overlay?.kind !== 'palette') return undefined;
    const found = findBindings(dash.state(), overlay)[0]?.id;
    dash.keys('esc');
    return found;
  };

  it('the palette finds every action and view by its name and by other words', () => {
    const dash = bench().data({ tasks: taskRows(2) });
    for (const [words, id] of [
      ['archive', 'put-away'],
      ['discard', 'put-away'],
      ['kill', 'stop'],
      ['cancel', 'stop'],
      ['merge', 'promote'],
      ['settings', 'preferences'],
      ['workers', 'pane-work'],
      ['tasks', 'pane-work'],
      ['messages', 'pane-bus'],
      ['memory', 'pane-memories'],
      ['statistics', 'pane-stats'],
      ['projects', 'pane-projects'],
      ['exit', 'quit'],
      ['retry', 'run'],
      ['pr', 'publish'],
    ] as const)
      assert.equal(firstOf(dash, words), id, words);
  });

  it('the palette finds each action by its id and its label', () => {
    const dash = bench().data({ tasks: taskRows(1) });
    for (const { id, label, group } of KEYMAP) {
      if (id === 'palette' || group === 'Move') continue;
      for (const words of [id, label]) {
        const found = KEYMAP.find((each) => each.id === firstOf(dash, words));
        const names = [found?.id, found?.label.toLowerCase(), ...(found?.aliases ?? [])];
        assert.ok(
          names.includes(words.toLowerCase()) || found?.id === `pane-${words}`,
          `${words}: ${found?.id}`,
        );
      }
    }
  });

  it('the palette shows why an action is disabled, and where one of another row works', () => {
    const dash = bench(120, 30).data({ tasks: [taskRow(1, { status: 'done' })] });
    const shown = (words: string): string => {
      dash.keys(':').send({ type: 'paste', text: words });
      const text = screenOf(dash.state()).join('\n');
      dash.keys('enter');
      return text;
    };
    assert.match(shown('kill'), /stop .*\(t-1 has ended \(done\)\)/);
    assert.match(dash.state().message?.text ?? '', /t-1 has ended/);
    assert.match(shown('promote'), /promote .*\(for work: runs\)/);
    assert.match(dash.state().message?.text ?? '', /promote: select one of work: runs/);
    shown('inbox');
    assert.equal(dash.state().focus, 'bus');
  });
});

describe('the log view', () => {
  const log = (dash: Bench, lines: string[], ended = false): Bench =>
    dash.send({ type: 'log', source: { session: 's-1', command: null }, lines, ended, reset: false });
  const running = (): Bench =>
    bench()
      .data({ sessions: [sessionRow(1, { state: 'running' })] })
      .send({
        type: 'log',
        source: { session: 's-1', command: null },
        lines: [''],
        ended: false,
        reset: true,
      });

  it('lines that arrive in parts are joined, and 500 are kept', () => {
    const dash = log(log(running(), ['one', 'tw']), ['o', 'three', '']);
    assert.deepEqual(dash.state().log.lines, ['one', 'two', 'three']);
    log(dash, [...Array.from({ length: 600 }, (_, index) => `line ${index}`), '']);
    assert.equal(dash.state().log.lines.length, 500);
    assert.equal(dash.state().log.lines.at(-1), 'line 599');
  });

  it('a line that is redrawn repeatedly shows its last state, wherever a part ends', () => {
    const dash = log(log(running(), ['begin', ' 1%\r 5']), ['0%\r']);
    assert.deepEqual(getLogLines(dash.state().log), ['begin', ' 50%']);
    log(dash, ['\u001b[K100', '']);
    log(dash, ['\u001b[3']);
    log(dash, ['2mdone\u001b[0m\u200b\r', '']);
    assert.deepEqual(getLogLines(dash.state().log), ['begin', '100', 'done\\u200b']);
  });

  it('f pauses and counts missed lines, f again follows', () => {
    const dash = log(log(running(), ['one', '']).keys('f'), ['two', 'three', '']);
    assert.equal(dash.state().log.following, false);
    assert.equal(dash.state().log.seen, 1);
    assert.equal(dash.keys('f').state().log.following, true);
  });

  it('scrolling up pauses, reaching the end follows again', () => {
    const dash = log(running(), [...Array.from({ length: 80 }, (_, index) => `line ${index}`), '']).keys(
      'pageup',
    );
    assert.equal(dash.state().log.following, false);
    dash.keys('enter', 'G');
    assert.equal(dash.state().log.following, true);
  });

  it('lines of a session that is no longer shown are dropped', () => {
    const dash = running().send({
      type: 'log',
      source: { session: 's-9', command: null },
      lines: ['other', ''],
      ended: false,
      reset: false,
    });
    assert.deepEqual(dash.state().log.lines, []);
  });
});

describe('a list that is longer than its first page', () => {
  const page = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, at) => taskRow(from + at, { status: 'open' }));

  it('the cursor is on the first row when the whole list has arrived', () => {
    const dash = bench().data({ tasks: page(101, 300), complete: false });
    assert.equal(dash.state().lists.work.selected, 't-101');
    dash.data({ tasks: page(51, 100), complete: false }).data({ tasks: page(1, 50), complete: true });
    assert.equal(dash.state().lists.work.selected, 't-1');
    assert.equal(dash.state().lists.work.top, 0);
    dash.data({ tasks: [taskRow(301, { status: 'open' })] });
    assert.equal(dash.state().lists.work.selected, 't-1');
  });

  it('the cursor stays where a hand has moved it, and where a question is open', () => {
    const moved = bench()
      .data({ tasks: page(101, 300), complete: false })
      .keys('j');
    moved.data({ tasks: page(1, 100), complete: true });
    assert.equal(moved.state().lists.work.selected, 't-102');
    const asked = bench()
      .data({ tasks: page(101, 300), complete: false })
      .keys('x');
    asked.data({ tasks: page(1, 100), complete: true });
    assert.equal(asked.state().lists.work.selected, 't-101');
  });

  it('a key that acts is ignored just after the program moved the cursor there', () => {
    const dash = bench().data({ tasks: page(101, 300), complete: false });
    const at = dash.state().now;
    dash.data({ tasks: page(1, 100), complete: true }).send({ type: 'keys', keys: ['x'], at: at + 100 });
    assert.equal(dash.state().armed, null);
  });
});
