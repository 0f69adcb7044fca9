import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ShownSession } from '../../../tui/state/rows.ts';
import {
  type Bench,
  bench,
  NOW,
  sessionRow,
  sessionUsage,
  taskRow,
  usageDay,
} from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const used = (output: number): ShownSession['usage'] => sessionUsage({ input: 0, output, cost_usd: null });
const runningRow = (id: number, more: Partial<ShownSession> = {}): ShownSession =>
  sessionRow(id, { state: 'running', ended_at: null, commits: null, ...more });

/** Three running workers: s-2 has used the most, the usage of s-3 is unknown. */
const openWorkers = (): Bench =>
  bench(100, 24).data({
    sessions: [runningRow(1, { usage: used(10) }), runningRow(2, { usage: used(20) }), runningRow(3)],
    complete: true,
    choices: { agents: [], templates: [], projects: [], default_agent: null },
  });

const idsOf = (self: Bench): readonly string[] => self.state().lists.work.ids;

/** Presses the key until the list is sorted by the column. */
function sortBy(self: Bench, column: string): Bench {
  for (let tries = 0; tries < 20 && self.state().lists.work.sort?.column !== column; tries += 1)
    self.keys('>');
  assert.equal(self.state().lists.work.sort?.column, column);
  return self;
}

describe('sorting a list', () => {
  it('sorting by an amount starts with the largest; unknown ones come last both ways', () => {
    const self = sortBy(openWorkers(), 'tokens');
    assert.deepEqual(idsOf(self), ['t-2', 't-1', 't-3']);
    assert.match(screenOf(self.state()).join('\n'), /by tokens ↓.*tokens↓|tokens ↓/s);
    assert.deepEqual(idsOf(self.keys('^')), ['t-1', 't-2', 't-3']);
  });

  it('later changes move no row, until a key or opening the list sorts again', () => {
    const self = sortBy(openWorkers(), 'tokens');
    self.data({ sessions: [runningRow(3, { usage: used(30) }), runningRow(4, { usage: used(99) })] });
    assert.deepEqual(idsOf(self), ['t-2', 't-1', 't-3', 't-4']);
    self.keys('=');
    assert.deepEqual(idsOf(self), ['t-4', 't-3', 't-2', 't-1']);
    self.data({ sessions: [runningRow(1, { usage: used(1000) })] });
    assert.deepEqual(idsOf(self), ['t-4', 't-3', 't-2', 't-1']);
    self.keys('2', '1');
    assert.deepEqual(idsOf(self), ['t-1', 't-4', 't-3', 't-2']);
  });

  it('the cursor and the marks stay with their rows', () => {
    const self = openWorkers().keys('space');
    sortBy(self, 'tokens');
    assert.equal(self.state().lists.work.selected, 't-2');
    assert.deepEqual([...self.state().lists.work.marks.keys()], ['t-1']);
  });

  it('a list has its own order again after the last column', () => {
    const self = openWorkers().keys('<');
    assert.notEqual(self.state().lists.work.sort, null);
    assert.equal(self.keys('>').state().lists.work.sort, null);
    assert.deepEqual(idsOf(self), ['t-1', 't-2', 't-3']);
  });

  it('numbers in ids are sorted as numbers', () => {
    const self = bench()
      .data({ tasks: [taskRow(10), taskRow(9)], complete: true })
      .keys('>', '^', '^');
    assert.deepEqual(self.state().lists.work.ids, ['t-9', 't-10']);
  });
});

describe('the space of lists', () => {
  const ten = Array.from({ length: 10 }, (_, index) => runningRow(index + 1));

  it('ten running workers are ten lines at 140x40', () => {
    const screen = screenOf(bench(140, 40).data({ sessions: ten, complete: true }).state());
    for (const { task_id: id } of ten)
      assert.ok(
        screen.some((line) => new RegExp(`[ ▶]${id} `).test(line)),
        id,
      );
  });

  it('z gives the list the whole screen, with more columns; z or Esc takes it away', () => {
    const self = bench(140, 40).data({ sessions: ten, complete: true }).keys('z');
    const zoomed = screenOf(self.state()).join('\n');
    for (const head of ['time', 'work', 'files', 'tokens', 'cost', 'quiet', 'title'])
      assert.ok(zoomed.includes(head), head);
    assert.doesNotMatch(zoomed, /─ facts ─|log ─/);
    assert.equal(self.keys('esc').state().isZoomed, false);
    assert.equal(self.keys('z', 'z').state().isZoomed, false);
  });

  it('a running worker shows its time, its limit and its commits', () => {
    const row = runningRow(1, {
      committed: { files: 3, insertions: 120, deletions: 45 },
      timeout_sec: 1800,
      last_line: 'compiling the rest',
      activity: null,
    });
    const zoomAt = (columns: number): string =>
      screenOf(
        bench(columns, 40)
          .data({ sessions: [row] })
          .keys('z')
          .state(),
      ).join('\n');
    assert.match(zoomAt(140), /5m\/30m +\+120 -45 +3 .* compiling the rest · Task number 1/);
  });

  it('a worker that has been silent for more than half of its limit has a sign at every width', () => {
    const quiet = new Date(NOW - 400_000).toISOString();
    for (const [columns, rows] of [
      [80, 24],
      [140, 40],
      [200, 50],
    ] as const) {
      const self = bench(columns, rows).data({ sessions: [runningRow(1, { log_written_at: quiet })] });
      assert.match(screenOf(self.state()).join('\n'), /running !/);
    }
  });

  it('the header has the totals of the day where there is room', () => {
    const usage = usageDay({ budget_tokens_day: 0, spent: sessionUsage({ estimated: true }) });
    const row = runningRow(1, { usage: sessionUsage() });
    const [wide] = screenOf(
      bench(140, 40)
        .data({ sessions: [row], usage })
        .state(),
    );
    assert.match(wide ?? '', /1\.5k tokens · ~\$0\.25 .*1 run today/);
    const [narrow] = screenOf(
      bench(80, 24)
        .data({ sessions: [row], usage })
        .state(),
    );
    assert.match(narrow ?? '', /1\.5k tokens/);
  });
});
