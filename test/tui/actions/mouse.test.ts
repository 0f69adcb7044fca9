import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type MouseInput, takeMouse } from '../../../tui/actions/mouse.ts';
import { type Bench, bench, sessionRow, showWork, taskRow } from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const open = (): Bench => {
  const tasks = [
    ...Array.from({ length: 30 }, (_, at) => taskRow(at + 2)),
    taskRow(1, { status: 'done', session_id: 's-1' }),
  ];
  const text = `diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -0,0 +1,99 @@\n${'+line\n'.repeat(99)}`;
  return showWork(bench(140, 40).data({ sessions: [sessionRow(1)], tasks }), 1, {
    patch: { text, truncated: false },
  });
};

/** Clicks on a text of the screen, where it is. */
const at = (dash: Bench, text: string, what: MouseInput['what'] = 'click'): Bench => {
  const lines = screenOf(dash.state());
  const row = lines.findIndex((line) => line.includes(text));
  assert.ok(row >= 0, `${text} is on the screen`);
  return dash.send({ type: 'mouse', input: { what, row, column: lines[row]!.indexOf(text) } });
};

describe('the mouse', () => {
  it('a click selects the row under it in each section, and a second one opens it', () => {
    const dash = open();
    for (const id of ['t-9 ', 't-1 ', 't-14 ']) {
      at(dash, ` ${id}`);
      assert.equal(dash.state().lists.work.selected, id.trim());
      assert.equal(dash.state().view, 'list');
    }
    const selected = dash.state().lists.work.selected;
    at(dash, ' needs you ');
    at(dash, '1 Work');
    assert.equal(dash.state().lists.work.selected, selected);
    at(dash, '▶t-14 ');
    assert.equal(dash.state().view, 'full');
    assert.equal(dash.state().armed, null);
    assert.deepEqual(dash.calls(), []);
  });

  it('the wheel moves the list or scrolls the text below it, and the list follows when it is scrolled', () => {
    const dash = open();
    at(dash, ' t-1 ');
    at(dash, '── a', 'wheel-down');
    assert.equal(dash.state().scroll.top, 3);
    assert.equal(dash.state().lists.work.selected, 't-1');
    for (let step = 0; step < 28; step += 1) at(dash, ' 1 Work ', 'wheel-down');
    const before = dash.state().lists.work;
    assert.ok(before.top > 0);
    const [, first] = screenOf(dash.state()).slice(4);
    const id = / (t-\d+) /.exec(first!)![1]!;
    at(dash, ` ${id} `);
    assert.equal(dash.state().lists.work.selected, id);
  });

  it('a click on a file goes to it in the diff, and the wheel over the files scrolls the diff', () => {
    const text = ['a', 'b', 'c']
      .map(
        (name) =>
          `diff --git a/${name}.ts b/${name}.ts\n--- a/${name}.ts\n+++ b/${name}.ts\n@@ -0,0 +1,60 @@\n${'+line\n'.repeat(60)}`,
      )
      .join('');
    const files = ['a.ts', 'b.ts', 'c.ts'].map((path) => ({ path, insertions: 60, deletions: 0 }));
    const row = { sessions: [sessionRow(1)], tasks: [taskRow(1, { status: 'done', session_id: 's-1' })] };
    const dash = showWork(bench(200, 50).data(row), 1, { files, patch: { text, truncated: false } });
    at(dash, '• a.ts', 'wheel-down');
    assert.equal(dash.state().scroll.top, 3);
    at(dash, 'c.ts ');
    assert.equal(dash.state().view, 'text');
    assert.match(screenOf(dash.state()).join('\n'), /• c[.]ts [\s\S]*▶── c[.]ts/);
    at(dash, ' files ');
    assert.match(screenOf(dash.state()).join('\n'), /• c[.]ts /);
  });

  it('a click on a tab goes to its list, also where the tabs are only digits', () => {
    const dash = open();
    for (const [text, pane] of [
      ['7 Stats', 'stats'],
      ['2 Bus', 'bus'],
      ['8 Proj', 'projects'],
      ['1 Work', 'work'],
    ] as const)
      assert.equal(at(dash, text).state().focus, pane);
    const lines = screenOf(dash.state());
    const gap = { what: 'click', row: 1, column: lines[1]!.indexOf('  3 Events') } as const;
    assert.equal(dash.send({ type: 'mouse', input: gap }).state().focus, 'work');
    dash.send({ type: 'resize', size: { columns: 60, rows: 20 } });
    assert.match(screenOf(dash.state())[1]!, / 8 {2}9$/);
    assert.equal(at(dash, '  9').state().focus, 'work', 'the gap before it');
    const column = screenOf(dash.state())[1]!.length - 1;
    assert.equal(
      dash.send({ type: 'mouse', input: { what: 'click', row: 1, column } }).state().focus,
      'runners',
    );
  });

  it('a click never answers a question or fills in a form', () => {
    const dash = open().keys('n');
    const { overlay } = dash.state();
    at(dash, ' svc ');
    assert.equal(dash.state().overlay, overlay);
  });

  it('reports of a terminal are taken out of its input, and nothing else is', () => {
    const read = (input: string): [string, string[]] => {
      const seen: string[] = [];
      const rest = takeMouse(input, ({ what, column, row }) => seen.push(`${what} ${column},${row}`));
      return [rest, seen];
    };
    assert.deepEqual(read('a\u001b[<0;12;3M\u001b[<0;12;3mb'), ['ab', ['click 11,2']]);
    assert.deepEqual(read('\u001b[<64;1;1M\u001b[<65;2;2M'), ['', ['wheel-up 0,0', 'wheel-down 1,1']]);
    assert.deepEqual(read('\u001b[<2;12;3M'), ['', []]);
    for (const input of ['', 'j', '\u001b[A', '[<0;1;1M', '\u001b[<0;1M', '\u001b'])
      assert.deepEqual(read(input), [input, []]);
  });
});
