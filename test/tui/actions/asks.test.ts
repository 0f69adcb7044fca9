import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeChanges } from '../../../tui/plain/describe-changes.ts';
import {
  askRow,
  type Bench,
  bench,
  decisionRow,
  NOW,
  sessionRow,
  taskRow,
} from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const openAsks = (...asks: ReturnType<typeof askRow>[]): Bench =>
  bench().data({
    asks,
    sessions: [sessionRow(1, { state: 'running', ended_at: null })],
    tasks: [taskRow(1, { session_id: 's-1', status: 'running' })],
  });
const lastMessage = (dash: Bench): string => dash.state().message?.text ?? '';
const answerCalls = (id: number, answer: string) => [{ operation: 'ask.answer', input: { id, answer } }];

describe('answering takes two keys: Enter opens, a digit sends', () => {
  it('the digit sends the option next to it', () => {
    const dash = openAsks(askRow(31)).keys('enter');
    assert.deepEqual(dash.calls(), []);
    assert.deepEqual(dash.keys('2').calls(), answerCalls(31, 'keep the second'));
    assert.equal(dash.state().overlay, null);
  });

  it('other keys send nothing, and Esc goes back', () => {
    const dash = openAsks(askRow(31)).keys('enter', '4', '0', '9', 'y', 'enter', 'space', 'tab');
    assert.equal(dash.state().overlay?.kind, 'answer');
    assert.match(lastMessage(dash), /nothing was sent/);
    assert.deepEqual(dash.keys('esc', '2').calls(), []);
    assert.equal(dash.state().focus, 'bus');
  });

  it('a question without options takes typed text, which Enter sends', () => {
    const dash = openAsks(askRow(31, { options: [] })).keys('enter', 'enter');
    assert.match(lastMessage(dash), /an answer is required/);
    dash.keys('1', '.', '2', 'space', 'q').send({ type: 'paste', text: 'x\ny' });
    assert.deepEqual(dash.calls(), []);
    assert.deepEqual(dash.keys('enter').calls(), answerCalls(31, '1.2 qx y'));
  });

  it('a question with more options than digits takes a typed number', () => {
    const options = Array.from({ length: 12 }, (_, index) => `way ${index + 1}`);
    const dash = openAsks(askRow(31, { options })).keys('enter', '1', '9', 'enter');
    assert.match(lastMessage(dash), /a number from 1 to 12/);
    assert.deepEqual(dash.keys('backspace', '1', 'enter').calls(), answerCalls(31, 'way 11'));
  });
});

describe('an answer goes to the question that was read', () => {
  it('arrivals change nothing in an opened question', () => {
    const dash = openAsks(askRow(31), askRow(32, { from_session: 's-9', task_id: null }))
      .keys('j', 'enter')
      .data({ asks: [askRow(30), askRow(33)] });
    assert.deepEqual(dash.keys('1').calls(), answerCalls(32, 'keep the first'));
  });

  it('a question that someone else answered is withdrawn, with the name of who answered', () => {
    const dash = openAsks(askRow(31))
      .keys('enter')
      .data({ asks: [askRow(31, { status: 'answered', answer: 'merge both', answered_by: 'chair-3' })] });
    assert.equal(dash.state().overlay, null);
    assert.match(lastMessage(dash), /ask 31 is closed, nothing was sent: chair-3 answered: merge both/);
    assert.deepEqual(dash.calls(), []);
  });

  it('typing for a withdrawn question acts on nothing, until the hand pauses', () => {
    const dash = openAsks(askRow(31, { options: [] }), askRow(32))
      .keys('enter', 'n', 'o')
      .data({ asks: [askRow(31, { status: 'timeout', options: [] })] });
    const { focus, view } = dash.state();
    dash.keys('1', 'enter', 'x', 'y').burst('1', 'y');
    assert.deepEqual(dash.calls(), []);
    assert.equal(dash.state().focus, focus);
    assert.equal(dash.state().view, view);
    assert.equal(dash.state().armed, null);
    assert.match(lastMessage(dash), /ask 31 is closed/);
    assert.equal(dash.wait(600).keys('2').state().focus, 'bus');
  });

  it('a question that ran out of time is withdrawn with its typed text', () => {
    const dash = openAsks(askRow(31, { options: [] }))
      .keys('enter', 'n', 'o')
      .data({ asks: [askRow(31, { status: 'timeout', options: [] })] });
    assert.match(lastMessage(dash), /ask 31 is closed, nothing was sent/);
    assert.deepEqual(dash.keys('enter').calls(), []);
  });

  it('a second answer is refused while one is being sent', () => {
    const dash = openAsks(askRow(31)).keys('enter', '1', 'enter', '2');
    assert.equal(dash.calls().length, 1);
  });

  it('nothing is sent while the engine is not running', () => {
    const dash = openAsks(askRow(31))
      .keys('enter')
      .send({ type: 'link', link: { phase: 'lost', reason: 'gone', since: NOW } })
      .keys('1');
    assert.deepEqual(dash.calls(), []);
    assert.match(lastMessage(dash), /was not sent/);
    assert.equal(dash.state().overlay?.kind, 'answer');
  });
});

describe('keys that no hand has pressed send nothing', () => {
  it('keys of one burst, in the list and in the question', () => {
    const dash = openAsks(askRow(31)).burst('enter', '1');
    assert.equal(dash.state().overlay, null);
    dash.keys('enter').burst('1', '1').burst('1', 'enter').burst('enter', '2', 'down');
    assert.deepEqual(dash.calls(), []);
    const text = openAsks(askRow(31, { options: [] }))
      .keys('enter')
      .burst('o', 'k', 'enter');
    assert.deepEqual(text.calls(), []);
    assert.equal(text.state().overlay?.kind, 'answer');
  });

  it('a paste', () => {
    const dash = openAsks(askRow(31)).keys('enter').send({ type: 'paste', text: '1' });
    assert.deepEqual(dash.calls(), []);
    assert.match(lastMessage(dash), /pasted text/);
  });

  it('a digit faster than a hand follows Enter', () => {
    const dash = openAsks(askRow(31));
    const at = dash.state().now + 1000;
    dash.send({ type: 'keys', keys: ['enter'], at }).send({ type: 'keys', keys: ['1'], at: at + 5 });
    assert.deepEqual(dash.calls(), []);
    dash.send({ type: 'keys', keys: ['1'], at: at + 90 });
    assert.equal(dash.calls().length, 1);
  });

  it('Enter just after another question took the place of the one under the cursor', () => {
    const dash = openAsks(askRow(31), askRow(32)).data({ asks: [askRow(31, { status: 'timeout' })] });
    assert.equal(dash.state().lists.work.selected, 't-1');
    const at = dash.state().now;
    dash.send({ type: 'keys', keys: ['enter'], at: at + 100 });
    assert.equal(dash.state().overlay, null);
    assert.match(lastMessage(dash), /has just moved/);
  });
});

describe('the list of questions', () => {
  it('a question whose time ends first is at the top, before decisions and work to review', () => {
    const other = { from_session: null, task_id: null };
    const expiring = (minutes: number) => new Date(NOW + minutes * 60_000).toISOString();
    const dash = bench().data({
      decisions: [decisionRow(3)],
      sessions: [sessionRow(4)],
      asks: [
        askRow(1, { ...other, status: 'answered' }),
        askRow(5, { ...other, expires_at: expiring(9) }),
        askRow(6, { ...other, expires_at: expiring(2) }),
      ],
    });
    assert.deepEqual(dash.state().lists.work.ids, ['ask-6', 'ask-5', 't-3', 't-4']);
  });

  it('the header counts the open questions and shows the shortest remaining time', () => {
    const dash = openAsks(
      askRow(1, { expires_at: new Date(NOW + 9 * 60_000).toISOString() }),
      askRow(2, { expires_at: new Date(NOW + 4.5 * 60_000).toISOString(), from_session: null }),
      askRow(3, { status: 'timeout' }),
    );
    assert.match(screenOf(dash.state())[0] ?? '', / 2 asks \(4m\)/);
    dash.wait(4 * 60_000);
    assert.match(screenOf(dash.state())[0] ?? '', / 2 asks \(30s\)/);
  });

  it('the remaining time is redrawn only when its words change', () => {
    const dash = openAsks(askRow(1, { expires_at: new Date(NOW + 10 * 60_000 + 5000).toISOString() }));
    let drawn = screenOf(dash.state()).join('\n');
    let changes = 0;
    for (let second = 0; second < 600; second += 10) {
      const next = screenOf(dash.wait(10_000).state()).join('\n');
      if (next !== drawn) changes += 1;
      drawn = next;
    }
    // Ages and remaining times change every minute, and every ten seconds in the last minute.
    assert.ok(changes <= 30, `${changes} changes in ten minutes`);
    assert.match(drawn, /1 ask/);
  });

  it('a question is printed once as a line, and not again as time passes', () => {
    const dash = openAsks(askRow(31));
    const before = dash.state();
    assert.deepEqual(describeChanges(before, dash.wait(120_000).state()), []);
    const open = dash.state();
    const text = describeChanges(open, dash.keys('enter').state()).join('\n');
    for (const part of [
      'Answer ask 31. 1-3 sends that answer',
      's-1 is blocked on this',
      '2  keep the second',
    ])
      assert.ok(text.includes(part), `${part} is not in\n${text}`);
    const opened = dash.state();
    assert.match(describeChanges(opened, dash.keys('2').state()).join('\n'), /answering ask 31/);
  });

  it('. goes to the question first, then to decisions, then to work', () => {
    const dash = bench().data({
      decisions: [decisionRow(1)],
      asks: [askRow(7), askRow(8, { status: 'timeout' })],
      sessions: [sessionRow(4)],
    });
    const seen = [1, 2, 3].map(() => dash.keys('.').state().lists.work.selected);
    assert.deepEqual(seen, ['t-1', 't-4', 'ask-7']);
  });

  it('a new question rings, moves nothing and opens nothing', () => {
    const dash = openAsks(askRow(31)).data({ asks: [askRow(2)] });
    assert.equal(dash.state().lists.work.selected, 't-1');
    assert.equal(dash.state().overlay, null);
  });

  it('a row names the asker and says if anyone still waits', () => {
    const text = (dash: Bench): string => screenOf(dash.state()).join('\n');
    const running = text(openAsks(askRow(31, { context: 'Two files add the column.' })));
    for (const part of [
      'claude · session s-1',
      't-1 "Task number 1"',
      's-1 is blocked on this',
      'Two files',
      '2  keep the second',
    ])
      assert.ok(running.includes(part), `${part} is not in\n${running}`);
    const ended = openAsks(askRow(31)).data({ sessions: [sessionRow(1)] });
    assert.match(text(ended), /has ended \(ready\): no one waits/);
  });
});
