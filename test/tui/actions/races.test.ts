import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { getRaceStamp } from '../../../tui/state/details.ts';
import type { RaceView } from '../../../tui/state/rows.ts';
import { type Bench, bench, sessionRow, showWork, taskRow } from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const AGENTS = ['red', 'green', 'blue'].map((id) => ({ id, installed: id !== 'blue', command: `run ${id}` }));
const shown = (dash: Bench): string => screenOf(dash.state()).join('\n');

const openTasks = (...tasks: ReturnType<typeof taskRow>[]): Bench =>
  bench(100, 30).data({
    tasks,
    choices: { agents: AGENTS, default_agent: null, templates: [], projects: [] } as never,
  });

describe('choosing the agents of a race', () => {
  it('B, a space for each agent, Enter and y start a race', () => {
    const dash = openTasks(taskRow(1)).keys('B', 'space', 'j', 'space', 'enter');
    assert.match(shown(dash), /Race t-1 with red, green\? 2 sessions/);
    assert.deepEqual(dash.calls(), []);
    dash.keys('y');
    assert.deepEqual(dash.calls(), [
      { operation: 'task.race', input: { id: 't-1', agents: ['red', 'green'] } },
    ]);
  });

  it('a race may have the same agent twice, but neither a single one nor one that is not installed', () => {
    const dash = openTasks(taskRow(1)).keys('B', 'j', 'j', 'space');
    assert.match(dash.state().message?.text ?? '', /blue is not installed/);
    dash.keys('k', 'k', 'space', 'enter');
    assert.match(dash.state().message?.text ?? '', /2 to 16/);
    dash.keys('+', 'enter', 'n');
    assert.deepEqual(dash.calls(), []);
    dash.keys('enter', 'y');
    assert.deepEqual(dash.calls(), [
      { operation: 'task.race', input: { id: 't-1', agents: ['red', 'red'] } },
    ]);
  });

  it('a race does not start once the task has changed', () => {
    const dash = openTasks(taskRow(1)).keys('B', 'space', '+', 'enter');
    dash.data({ tasks: [taskRow(1, { title: 'Another one' })] }).keys('y');
    assert.deepEqual(dash.calls(), []);
    assert.match(dash.state().message?.text ?? '', /has changed/);
  });
});

const patch = (name: string): string =>
  ['one.txt', 'two.txt']
    .map(
      (file) =>
        `diff --git a/${file} b/${file}\n--- a/${file}\n+++ b/${file}\n@@ -0,0 +1,40 @@\n${Array.from({ length: 40 }, (_, at) => `+${name} ${file} ${at + 1}\n`).join('')}`,
    )
    .join('');

/** A comparison of a race of two successful sessions. */
function openRace(more: object = {}, columns = 100): Bench {
  const racer = (id: number, agent: string) =>
    sessionRow(id, {
      task_id: 't-1',
      agent,
      race: 1,
      files: 2,
      insertions: 80,
      deletions: 0,
      commits: 1,
      ...more,
    });
  const rows = [racer(1, 'red'), racer(2, 'green')];
  const dash = bench(columns, 24)
    .data({ tasks: [taskRow(1, { status: 'running', race: 1 })], sessions: rows })
    .keys('C');
  const evidence = { state: 'verified', reasons: [], rerun_state: null, rerun: { ran: 2, agree: 2 } };
  dash.send({
    type: 'detail',
    loaded: {
      kind: 'race',
      id: 't-1',
      stamp: getRaceStamp(dash.state().data, 't-1'),
      problem: null,
      detail: {
        race: { state: 'open', winner: null },
        sessions: rows.map((row) => ({ ...row, evidence, elapsed_ms: 1000, held: null })),
      } as unknown as RaceView,
    },
  });
  const files = ['one.txt', 'two.txt'].map((path) => ({ path, insertions: 40, deletions: 0 }));
  for (const [id, name] of [
    [1, 'red'],
    [2, 'green'],
  ] as const)
    showWork(dash, id, { patch: { text: patch(name), truncated: false }, files: files as never });
  return dash;
}

describe('comparing the sessions of a race', () => {
  it('the comparison switches the diff at the same place: the same file, the same scroll', () => {
    const dash = openRace().keys('n', 'j', 'j', 'j', 'j', 'j', 'j');
    const first = screenOf(dash.state());
    const at = first.findIndex((line) => line.includes('red two.txt'));
    assert.ok(at > 0, first.join('\n'));
    dash.keys('tab');
    const second = screenOf(dash.state());
    assert.equal(second[at], first[at]?.replace('red', 'green').replace('  ║', '║'));
    assert.match(second.join('\n'), /s-2 two\.txt {2}\(file 2 of 2\)/);
    dash.keys('1');
    assert.deepEqual(screenOf(dash.state()), first);
  });

  it('p and m promote the shown session, after naming every session that is discarded', () => {
    const dash = openRace().keys('2', 'p');
    assert.match(shown(dash), /Promote s-2 by green: svc\/s-2 into main\? It is verified/);
    assert.match(shown(dash).replace(/\s*║\n║\s*/g, ' '), /other of its race, s-1: discarded/);
    assert.deepEqual(dash.calls(), []);
    dash.keys('m');
    const [call] = dash.calls();
    assert.equal(call?.operation, 'worktree.promote');
    assert.deepEqual({ ...call?.input, head: null }, { session: 's-2', strategy: 'merge', head: null });
  });

  it('s squashes the shown session, whose commit the question names', () => {
    const dash = openRace().keys('2', 'p');
    assert.match(shown(dash).replace(/\s*║\n║\s*/g, ' '), /s makes one commit: "Title 2"/);
    const [call] = dash.keys('s').calls();
    assert.deepEqual({ ...call?.input, head: null }, { session: 's-2', strategy: 'squash', head: null });
  });

  it('other keys, keys that arrive together, and a running session do nothing', () => {
    const dash = openRace().keys('p', 'j');
    assert.deepEqual(dash.calls(), []);
    dash.send({ type: 'keys', keys: ['p', 'm'], at: Date.now() });
    assert.deepEqual(dash.calls(), []);
    const running = openRace({ state: 'running', ended_at: null }).keys('p');
    assert.match(running.state().message?.text ?? '', /still running/);
  });

  it('the comparison has a line for each at 80 columns', () => {
    const lines = screenOf(openRace({}, 80).state());
    const row = lines.find((line) => line.includes('s-1')) ?? '';
    assert.match(row, /verified 2\/2.* 2 .*\+80 -0/);
    assert.doesNotMatch(row, /…/);
  });
});
