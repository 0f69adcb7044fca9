import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderOverlay } from '../../../tui/overlays/index.ts';
import { findDetail, getSubjectStamp, listWantedDetails } from '../../../tui/state/details.ts';
import type { ListedImpact } from '../../../tui/state/rows.ts';
import { toPlainText } from '../../../tui/text/theme.ts';
import { type Bench, bench, sessionRow, taskRow } from '../../support/terminals/dashboard.ts';

const impactOf = (more: Partial<ListedImpact> = {}): ListedImpact => ({
  empty: null,
  note: null,
  candidates: [],
  files: 1,
  symbols: ['total src/sums.ts:1'],
  reached: [
    {
      symbol: 'report src/report.ts:2',
      id: 7,
      hop: 1,
      confidence: 1,
      line: 2,
      through: 'total',
      test: false,
    },
    {
      symbol: 'guess src/guess.ts:3',
      id: 8,
      hop: 2,
      confidence: 0.4,
      line: 3,
      through: 'report',
      test: false,
    },
  ],
  tests: ['test/report.test.ts'],
  not_indexed: [],
  removed: [],
  more: 0,
  summary: 'changes 1 symbol, reached from 2 callers over two steps (1 by name only), 1 test file',
  is_stale: false,
  exact: null,
  ...more,
});

const show = (
  self: Bench,
  detail: ListedImpact | null,
  more: { problem?: string; progress?: string } = {},
): Bench =>
  self.send({
    type: 'detail',
    loaded: {
      kind: 'impact',
      id: 's-1',
      stamp: getSubjectStamp(self.state().data, { kind: 'session', id: 's-1' }),
      detail,
      problem: null,
      ...more,
    },
  });

const read = (self: Bench, rows = 20): string => {
  const state = self.state();
  const view = renderOverlay(state, state.overlay!, { cells: 76, rows });
  return view!.lines.map(toPlainText).join('\n');
};

const open = (): Bench => bench().data({ sessions: [sessionRow(1)] });
const wantsImpact = (self: Bench): boolean =>
  listWantedDetails(self.state()).details.some(({ kind }) => kind === 'impact');

describe('the impact of a session', () => {
  it('the impact is requested when I is pressed and not before, and again at the next I', () => {
    const dash = open();
    assert.equal(wantsImpact(dash), false);
    dash.keys('I');
    assert.equal(wantsImpact(dash), true);
    show(dash, impactOf()).keys('esc');
    assert.equal(dash.state().overlay, null);
    assert.equal(wantsImpact(dash), false);
    assert.equal(findDetail(dash.keys('I').state(), 'impact', 's-1'), undefined);
  });

  it('the impact has symbols, callers with their confidence, tests, and unknown facts', () => {
    const dash = show(open().keys('I'), impactOf({ not_indexed: ['a.sql'], more: 3, exact: 'off' }));
    const text = read(dash);
    assert.match(text, /^changes 1 symbol, reached from 2 callers/);
    assert.match(text, /^ {2}total src\/sums\.ts:1$/m);
    assert.match(text, /^ {2}1\.0 1 report src\/report\.ts:2 by total, line 2$/m);
    assert.match(text, /^ {2}0\.4 2 guess src\/guess\.ts:3 by report, line 3$/m);
    assert.match(text, /^ {2}test\/report\.test\.ts$/m);
    assert.match(text, /^exact edges: off$/m);
    assert.match(text, /not indexed\n {2}a\.sql/);
    assert.match(text, /and 3 more lines/);
  });

  it('the impact shows the progress of an index, the reason of an empty answer, and failures', () => {
    const dash = open().keys('I');
    show(dash, null, { progress: 'files read: 4 of 12' });
    assert.match(read(dash), /reading the code … files read: 4 of 12/);
    show(
      dash,
      impactOf({ empty: 'no_changes', note: 'nothing has changed', symbols: [], reached: [], tests: [] }),
    );
    assert.equal(read(dash), 'no changes: nothing has changed');
    show(dash, null, { problem: 'git is not there' });
    assert.match(read(dash), /git is not there/);
  });

  it("the impact scrolls, and the row of a task shows its latest run's", () => {
    const dash = show(
      open().keys('I'),
      impactOf({ symbols: Array.from({ length: 90 }, (_, at) => `s${at}`) }),
    );
    const first = read(dash, 5);
    dash.keys('j');
    assert.notEqual(read(dash, 5), first);
    const tasks = bench()
      .data({ tasks: [taskRow(1, { session_id: 's-4' })], sessions: [sessionRow(4, { task_id: 't-1' })] })
      .keys('I');
    assert.deepEqual(tasks.state().overlay, { kind: 'impact', session: 's-4', top: 0 });
  });
});
