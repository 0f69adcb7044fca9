import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Bench,
  bench,
  sessionRow,
  showTask,
  showWork,
  taskRow,
} from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const PULL = {
  number: 7,
  state: 'open',
  url: 'https://code.example/acme/shop/pull/7',
  asked_at: null,
  problem: null,
} as const;

/** A task with a run, and one without. */
const open = (more: Parameters<typeof sessionRow>[1] = {}): Bench =>
  bench(100, 30).data({
    tasks: [taskRow(1, { status: 'done', session_id: 's-1' }), taskRow(2)],
    sessions: [sessionRow(1, more)],
    complete: true,
  });

const lastLine = (dash: Bench): string => screenOf(dash.state()).at(-1) ?? '';
const message = (dash: Bench): string => dash.state().message?.text ?? '';
const told = (dash: Bench): unknown[] =>
  dash.effects().filter((each) => each.do === 'copy' || each.do === 'browse');

describe('Y', () => {
  it('offers the task, the run, its branch and a command for it, and copies the chosen one', () => {
    for (const [key, text] of [
      ['y', 't-1'],
      ['s', 's-1'],
      ['b', 'svc/s-1'],
      ['c', 'svc worktree shell s-1'],
    ] as const) {
      const dash = open().keys('Y');
      assert.match(
        lastLine(dash),
        /Copy of t-1 \(svc\/s-1\)\? +y id +s run +b branch +c command +Esc cancel/,
      );
      assert.deepEqual(told(dash), []);
      assert.deepEqual(told(dash.keys(key)), [{ do: 'copy', text }]);
      assert.equal(message(dash), `${text} was sent to the terminal clipboard`);
    }
    assert.deepEqual(told(open().keys('Y', 'esc')), []);
  });

  it('copies at once where there is only an id, and the text of an opened row', () => {
    assert.deepEqual(told(open().keys('j', 'Y')), [{ do: 'copy', text: 't-2' }]);
    const dash = showTask(open().keys('j'), 2).keys('enter', 'Y');
    const [copied] = dash.effects().filter((each) => each.do === 'copy');
    assert.match(copied?.text ?? '', /│ Task number 2/);
    assert.equal(message(dash), 'the text was sent to the terminal clipboard');
  });
});

describe('O', () => {
  it('opens the pull request of a run in the browser', () => {
    const dash = open({ pull_request: PULL }).keys('O');
    assert.deepEqual(told(dash), [{ do: 'browse', url: PULL.url }]);
    assert.equal(message(dash), `opening ${PULL.url}`);
  });

  it('opens the issue that the text of a task names', () => {
    const url = 'https://code.example/acme/shop/issues/12';
    const dash = open().data({ tasks: [taskRow(2, { title: `Look at ${url}, please` })] });
    assert.deepEqual(told(showTask(dash.keys('j'), 2).keys('O')), [{ do: 'browse', url }]);
  });

  it('asks the engine for the page of an issue that is known by its reference, and opens that', () => {
    const dash = open().data({
      tasks: [taskRow(2, { source: 'codehost', source_ref: 'acme/shop#12' })],
    });
    dash.keys('j', 'O');
    assert.deepEqual(dash.calls(), [{ operation: 'task.page', input: { id: 't-2' } }]);
    const [call] = dash.effects().filter((each) => each.do === 'call');
    const url = 'https://code.example/acme/shop/issues/12';
    dash.send({ type: 'answered', effect: call!, answer: { task_id: 't-2', url } });
    assert.deepEqual(told(dash), [{ do: 'browse', url }]);
    assert.equal(message(dash), `opening ${url}`);
    const pull = open({ pull_request: { ...PULL, url: null } }).keys('O');
    assert.deepEqual(pull.calls(), [{ operation: 'task.page', input: { id: 't-1' } }]);
  });

  it('says that there is no page, and opens no other address', () => {
    for (const pull of [
      { ...PULL, url: 'javascript:alert(1)' },
      { ...PULL, url: 'file:///etc/passwd' },
      { ...PULL, url: null, number: null },
      null,
    ]) {
      const dash = open({ pull_request: pull }).keys('O');
      assert.deepEqual(told(dash), []);
      assert.match(message(dash), /this row has no pull request, and its text names no issue/);
    }
    const dash = open().data({ tasks: [taskRow(2, { title: 'See https://code.example/acme/shop' })] });
    assert.deepEqual(told(showTask(dash.keys('j'), 2).keys('O')), []);
  });
});

describe('the pager', () => {
  it('gets the whole diff of the run from svc, with the command of ui.yaml', () => {
    const dash = showWork(open(), 1);
    dash.send({
      type: 'replace',
      change: (state) => ({ ...state, preferences: { ...state.preferences, pager: 'delta --dark' } }),
    });
    dash.keys('v', '|');
    assert.match(message(dash), /v shows the diff/);
    dash.keys('v', '|');
    const [effect] = dash.effects().filter((each) => each.do === 'command');
    assert.deepEqual(
      [effect?.words, effect?.env],
      [['worktree', 'diff', '--', 's-1'], { SVC_PAGER: 'delta --dark' }],
    );
    dash.send({ type: 'exited', effect: effect!, code: 3 });
    assert.match(message(dash), /svc diff ended with exit code 3/);
  });
});
