import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeChanges } from '../../../tui/plain/describe-changes.ts';
import type { ListedUsageDay } from '../../../tui/state/rows.ts';
import {
  type Bench,
  bench,
  sessionRow,
  usageSum as sum,
  usageDay,
} from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const nothing = (more: Partial<ListedUsageDay> = {}): ListedUsageDay =>
  usageDay({
    total: sum(null, { calls: 0, tokens: 0, cost_usd: null }),
    hours: new Array<number>(24).fill(0),
    groups: { session: [], model: [], provider: [], task: [] },
    ...more,
  });

const CHOICES = { agents: [], default_agent: null, templates: [], projects: [] };
const openUsage = (usage: ListedUsageDay, columns = 80, rows = 24): Bench =>
  bench(columns, rows).keys('4').data({ usage, choices: CHOICES });
const screen = (dash: Bench): string => screenOf(dash.state()).join('\n');
const rowsOf = (dash: Bench): readonly string[] => dash.state().lists.usage.ids;

describe('the usage pane', () => {
  it('usage is listed by session, model, provider and task, with money next to tokens', () => {
    const dash = openUsage(usageDay());
    assert.deepEqual(rowsOf(dash), [
      'all',
      'session:s-1',
      'session:',
      'model:gpt-5',
      'provider:up',
      'task:t-1',
    ]);
    const text = screen(dash);
    assert.match(text, /all +42\.0k +\$1\.25 +3 +0 +today/);
    assert.match(text, /session +40\.0k .* s-1 Split store\.ts/);
    assert.match(text, /your own agents/);
    assert.match(text, /provider .* \$1\.25\+ .* up/, 'some of its tokens have no price');
  });

  it('the pane shows the rest of the budget, its reset, and the hours', () => {
    const dash = openUsage(usageDay(), 80, 34);
    const text = screen(dash);
    assert.match(text, /42\.0k of 2\.0M · budget resets at \d\d:\d\d UTC/);
    assert.match(text, /·{9}█▁·{13}/);
    assert.match(text, /busiest +09:00 UTC, 40\.0k/);
    assert.match(text, /127\.0\.0\.1:8788, mode live/);
    const spent = screen(openUsage(usageDay({ budget_tokens_day: 42_000 })));
    assert.match(spent, /budget used up, resets at/);
    assert.match(spent, /\[4 Usage ! 42\.0k\]/);
  });

  it("one session's usage is not compared with the budget of all", () => {
    const own = { of_session: 's-1', budget_tokens_day: 42_000 };
    const text = screen(openUsage(usageDay(own), 80, 34));
    assert.match(text, /today, this session/);
    assert.match(text, /42\.0k · budget resets at/);
    assert.match(text, /budget +42\.0k tokens for all sessions, resets at/);
    assert.doesNotMatch(text, /budget used up/);
    assert.match(screen(openUsage(nothing(own))), /This session has made no model call/);
  });

  it('b limits the list to one kind after the other, and then shows all again', () => {
    const dash = openUsage(usageDay());
    const kinds = ['session', 'model', 'provider', 'task'].map((kind) => {
      dash.keys('b');
      assert.ok(rowsOf(dash).every((id) => id.startsWith(`${kind}:`)));
      return rowsOf(dash).length;
    });
    assert.deepEqual(kinds, [2, 1, 1, 1]);
    assert.equal(rowsOf(dash.keys('b')).length, 6);
  });

  it('the cursor keeps its row while numbers arrive', () => {
    const dash = openUsage(usageDay()).keys('j', 'j', 'j');
    assert.equal(dash.state().lists.usage.selected, 'model:gpt-5');
    const { groups } = usageDay();
    dash.data({
      usage: usageDay({ groups: { ...groups, session: [sum('s-2'), sum('s-3'), ...groups.session] } }),
    });
    assert.equal(dash.state().lists.usage.selected, 'model:gpt-5');
  });

  it('Enter opens the worker of a session, and of nothing else', () => {
    const dash = openUsage(usageDay()).data({ sessions: [sessionRow(1)] });
    assert.equal(dash.keys('l').state().focus, 'usage');
    assert.match(dash.state().message?.text ?? '', /no worker is selected/);
    const { focus, lists } = dash.keys('j').keys('l').state();
    assert.deepEqual([focus, lists.work.selected], ['work', 't-1']);
  });

  it('the pane names the next step while it is empty', () => {
    const said = (usage: ListedUsageDay): string => screen(openUsage(usage));
    assert.match(said(nothing()), /No model call went through the gateway today/);
    assert.match(said(nothing()), /agents\.auth gateway are counted here/);
    assert.match(said(nothing({ mode: 'stub' })), /canned until svc config set ai\.mode live/);
    assert.match(said(nothing({ mode: 'off' })), /The gateway is off: ai\.mode is off/);
    assert.match(said(nothing({ has_providers: false })), /svc doctor --live tries it/);
    assert.match(screenOf(bench().keys('4').state()).join('\n'), /Still being fetched/);
  });

  it('usage is printed as words where there is no screen', () => {
    const before = bench(80, 24, { plain: true }).keys('4');
    const first = before.state();
    const after = before.data({ usage: usageDay() }).keys('enter').state();
    const text = describeChanges(first, after).join('\n');
    assert.match(text, /busiest +09:00 UTC/);
    assert.doesNotMatch(text, /[▁▂▃▄▅▆▇█]/);
  });
});
