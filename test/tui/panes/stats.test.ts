import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeChanges } from '../../../tui/plain/describe-changes.ts';
import type { ListedStats } from '../../../tui/state/rows.ts';
import { type Bench, bench } from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const SPAN = { count: 0, median_sec: null, p90_sec: null };

const figures = (key: string | null, more: Partial<ListedStats['total']> = {}): ListedStats['total'] => ({
  ...{ key, tasks: 0, promoted: 0, reworked: 0, retries: 0, follow_ups: 0, resumed: 0, conflicts: 0 },
  ...{
    runs: 0,
    untold_tokens: 0,
    cost_usd: null,
    untold_cost: 0,
    unpriced: 0,
    estimated_tokens: 0,
    estimated: false,
  },
  outcomes: { done: 0, failed: 0, denied: 0, cancelled: 0, unfinished: 0 },
  tokens: { input: 0, cached: 0, output: 0 },
  ...{ to_approval: SPAN, to_end: SPAN, to_promotion: SPAN },
  ...more,
});

const ended = (done: number) => ({ done, failed: 0, denied: 0, cancelled: 0 });

const report = (more: Partial<ListedStats> = {}): ListedStats => ({
  ...{ by: 'agent', at: '2026-03-10T12:00:00.000Z', since: '2026-03-01T08:00:00.000Z' },
  ...{ events_since: '2026-03-04T00:00:00.000Z', removed: 12, archived: 0 },
  total: figures(null, {
    ...{ tasks: 40, promoted: 20, reworked: 4, retries: 3, conflicts: 1, runs: 41, untold_tokens: 1 },
    outcomes: { done: 30, failed: 6, denied: 2, cancelled: 0, unfinished: 2 },
    tokens: { input: 90_000, cached: 10_000, output: 2000 },
    to_end: { count: 36, median_sec: 600, p90_sec: 7200 },
  }),
  groups: [figures('claude', { tasks: 30 }), figures(null, { tasks: 10 })],
  days: [
    { day: '2026-03-01', created: 9, ended: ended(1) },
    { day: '2026-03-02', created: 9, ended: ended(8) },
  ],
  queue: { running: 2, waiting: 3, paused: 0, cap: 4, ends_at: '2026-03-10T12:50:00.000Z' },
  ...more,
});

const openStats = (stats: ListedStats, columns = 80, rows = 24): Bench =>
  bench(columns, rows).keys('S').data({ stats });
const screen = (dash: Bench): string => screenOf(dash.state()).join('\n');

describe('the statistics pane', () => {
  it('the total is listed first, with missing values and the end of the queue', () => {
    const text = screen(openStats(report(), 140, 40));
    assert.match(text, /40 +83% +10% +10m +92\.0k\+ +- +all/);
    assert.match(text, /30 .* claude/);
    assert.match(text, /\(no agent\)/);
    assert.match(text, /since +2026-03-01, 12 older tasks were removed and not/);
    assert.match(text, /counted, conflicts since 2026-03-04/);
    assert.match(text, /queue +2 of 4 running, 3 queued; by the median run all/);
    assert.match(text, /end in 50m/);
    assert.match(text, /rework +10% of the tasks: 3 retries, 1 conflict/);
    assert.match(text, /then to end +median 10m, 90% within 2h \(of 36\)/);
    assert.match(text, /done +30 █+ /);
    assert.match(text, /done +▁█ /);
  });

  it('the pane fits a small screen', () => {
    const text = screen(openStats(report()));
    assert.match(text, /40 +83% +10% +10m +92\.0k\+ +- +all/);
    assert.match(text, /\[7 Stats\]/);
  });

  it('b groups the rows, the newest day first, and each row has its own preview', () => {
    const dash = openStats(report());
    assert.equal(dash.keys('b').state().statsBy, 'project');
    assert.equal(dash.keys('b').state().statsBy, 'day');
    dash.data({
      stats: report({
        by: 'day',
        groups: [figures('2026-03-01', { tasks: 1 }), figures('2026-03-02', { tasks: 8 })],
      }),
    });
    assert.deepEqual(dash.state().lists.stats.ids, ['all', 'day:2026-03-02', 'day:2026-03-01']);
    const text = screen(dash.keys('j'));
    assert.match(text, /─ 2026-03-02 ─/);
    assert.doesNotMatch(text, /by the median run/);
    assert.equal(dash.keys('b').state().statsBy, 'agent');
  });

  it('the statistics are words where there is no screen', () => {
    const before = bench(80, 24, { plain: true }).keys('S');
    const first = before.state();
    const after = before.data({ stats: report() }).keys('enter').state();
    const text = describeChanges(first, after).join('\n');
    assert.match(text, /success +83%: 30 of 36 done/);
    assert.doesNotMatch(text, /[▁█]/);
  });

  it('the pane says that there is nothing yet', () => {
    assert.match(screen(bench(80, 24).keys('S')), /Still being fetched/);
    const none = report({ since: null, total: figures(null), groups: [], days: [] });
    assert.match(screen(openStats(none)), /There are no tasks to count/);
  });
});
