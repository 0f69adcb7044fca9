import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderHintLine } from '../../../tui/frame/hint-line.ts';
import { getPane } from '../../../tui/panes/index.ts';
import { getStateStyle } from '../../../tui/panes/states.ts';
import type { RunnerRow } from '../../../tui/state/rows.ts';
import { toPlainText } from '../../../tui/text/theme.ts';
import { type Bench, bench, runnerRow } from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const openRunners = (runners: readonly RunnerRow[], columns = 80, rows = 24): Bench =>
  bench(columns, rows).keys('9').data({ runners });
const screen = (dash: Bench): string => screenOf(dash.state()).join('\n');
const question = (dash: Bench): string => dash.state().armed?.question ?? '';
const message = (dash: Bench): string => dash.state().message?.text ?? '';
const hints = (dash: Bench): string => toPlainText(renderHintLine(dash.state()));

describe('the runners pane', () => {
  it('each machine is a row with its workers, state, load, disk and reason', () => {
    const text = screen(
      openRunners(
        [
          runnerRow(1, { running: 2 }),
          runnerRow(2, {
            ...{ pool: 'gpu', state: 'silent', load: null, disk_free_bytes: null },
            reason: 'connection refused',
          }),
        ],
        100,
      ),
    );
    assert.match(text, /id +name +pool +workers +state +load +disk +why/);
    assert.match(text, /r-1 +box1 +default +2\/4 +ready +0[.]4 +120 GiB/);
    assert.match(text, /r-2 +box2 +gpu +0\/4 +silent +- +- +connection refused/);
  });

  it('a small screen keeps the name, the workers and the state', () => {
    const text = screen(openRunners([runnerRow(1, { reason: 'no project is shared' })], 60, 20));
    assert.match(text, /id +name +pool +workers +state +why/);
    assert.match(text, /r-1 +box1 +default +0\/4 +ready +no pro/);
  });

  it('a state has the style of what it asks of a person', () => {
    const styles = {
      ...{ connecting: 'live', ready: 'good', full: 'live', draining: 'warn' },
      ...{ silent: 'warn', lost: 'bad', revoked: 'dim' },
    } satisfies Record<RunnerRow['state'], string>;
    const column = getPane('runners').columns.find(({ head }) => head === 'state')!;
    for (const [state, style] of Object.entries(styles)) {
      assert.equal(getStateStyle(state), style, state);
      const row = runnerRow(1, { state: state as RunnerRow['state'] });
      assert.equal(column.style?.(row as never, bench().state()), style, state);
    }
  });

  it('the preview has all facts about the machine', () => {
    const text = screen(
      openRunners([
        runnerRow(1, {
          running: 2,
          state: 'draining',
          reason: 'it gets no new run',
          projects: ['api', 'web'],
        }),
      ]),
    );
    assert.match(text, /─ box1 ─+ draining ─/);
    for (const fact of [
      /id +r-1/,
      /state +draining/,
      /since +2026-03-01 \d\d:\d\d:00/,
      /why +it gets no new run/,
      /workers +2 of 4/,
      /pool +default/,
      /agents +claude, codex \(not logged in\)/,
      /projects +api, web/,
      /reached +by ssh ada@box1[.]lan/,
      /load +0[.]4 processes for each processor/,
      /disk +120 GiB free/,
    ])
      assert.match(text, fact);
    const joined = openRunners([runnerRow(1, { transport: 'broker', address: 'laptop' })]);
    assert.match(screen(joined), /reached +over the broker, from laptop/);
    const command = openRunners([runnerRow(1, { transport: 'command', address: 'docker exec -i box' })]);
    assert.match(screen(command), /reached +by the command docker exec -i box/);
  });

  it('the pane names the command that adds a machine while it is empty', () => {
    assert.match(screen(bench().keys('9')), /Still being fetched/);
    const text = screen(openRunners([]));
    assert.match(text, /No other machine runs workers/);
    assert.match(text, /svc runner add HOST adds one/);
    assert.match(text, /\[9 Runners\]/);
  });

  it('the tab counts the machines that were not revoked, and is quiet without any', () => {
    const dash = openRunners([runnerRow(1), runnerRow(2, { state: 'revoked' })]).keys('1');
    assert.match(screenOf(dash.state())[1]!, / 8 {2}9:1$/);
    assert.match(screenOf(dash.data({ runners: [] }).state())[1]!, / 8 {2}9$/);
  });

  it('D then y drains the machine, and lets it get runs again while it is draining', () => {
    const dash = openRunners([runnerRow(1), runnerRow(2, { state: 'silent', is_drained: true })]).keys('D');
    assert.match(question(dash), /^Drain box1[?] It finishes its runs and gets no new ones/);
    assert.deepEqual(dash.calls(), [], 'one key does nothing');
    dash.keys('y');
    assert.deepEqual(dash.calls(), [{ operation: 'runner.drain', input: { name: 'box1' } }]);
    dash.keys('j', 'D');
    assert.match(question(dash), /^Let box2 get runs again[?]/);
    dash.keys('y');
    assert.deepEqual(dash.calls()[1], { operation: 'runner.drain', input: { name: 'box2', undo: true } });
  });

  it('X then y revokes the machine, after naming what happens to its runs', () => {
    const idle = openRunners([runnerRow(1)]).keys('X');
    assert.equal(question(idle), 'Cut box1 off at once, for good?');
    const dash = openRunners([runnerRow(1, { running: 2, pool: 'gpu' })]).keys('X');
    assert.match(question(dash), /for good[?] Its 2 runs will continue on others of the pool gpu/);
    assert.deepEqual(dash.keys('n').calls(), [], 'another key cancels');
    assert.deepEqual(dash.keys('X', 'y').calls(), [{ operation: 'runner.revoke', input: { name: 'box1' } }]);
  });

  it('a revoked machine is offered no key, and each key explains why', () => {
    const dash = openRunners([runnerRow(1, { state: 'revoked' })]);
    assert.doesNotMatch(hints(dash), /drain|revoke/);
    for (const key of ['D', 'X']) {
      assert.match(message(dash.keys(key)), /box1 was revoked: svc runner remove box1 takes it out/);
      assert.deepEqual(dash.keys('y').calls(), []);
    }
    assert.match(hints(openRunners([runnerRow(1)])), /D drain .*X revoke/);
    assert.match(message(openRunners([]).keys('D')), /no machine is selected/);
  });

  it('a question is withdrawn when the machine is drained or revoked elsewhere, and not when its connection ends', () => {
    const dash = openRunners([runnerRow(1)]).keys('X');
    assert.notEqual(dash.data({ runners: [runnerRow(1, { state: 'silent' })] }).state().armed, null);
    dash.data({ runners: [runnerRow(1, { state: 'revoked' })] });
    assert.equal(dash.state().armed, null);
    assert.match(message(dash), /r-1 has changed/);
    assert.deepEqual(dash.keys('y').calls(), []);
  });
});
