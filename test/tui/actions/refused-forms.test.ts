import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DashboardEffect } from '../../../tui/actions/transition.ts';
import {
  askRow,
  type Bench,
  bench,
  decisionRow,
  memoryRow,
  messageRow,
  NOW,
  peerRow,
  sessionRow,
  showComments,
  showDecision,
  showWork,
  taskRow,
} from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const shown = (dash: Bench): string => screenOf(dash.state()).join('\n');

/** The diff of s-1 over the whole screen. */
const openDiff = (): Bench =>
  showWork(
    bench(80, 30)
      .data({ sessions: [sessionRow(1, { worktree: '/w/s-1' })] })
      .keys('enter'),
    1,
    { patch: { text: 'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+new\n', truncated: false } },
  );

/** The engine refuses the last call. */
function refuse(dash: Bench, text = 'must have at most 500 characters'): Bench {
  const effect = dash.effects().findLast((each) => each.do === 'call');
  assert.ok(effect?.do === 'call');
  assert.equal(dash.state().overlay, null);
  return dash.send({ type: 'refused', busy: effect.busy, text, form: effect.form });
}

/** The text of the last opened editor. */
function findEdit(dash: Bench): Extract<DashboardEffect, { do: 'edit' }> {
  const effect = dash.effects().findLast((each) => each.do === 'edit');
  assert.ok(effect?.do === 'edit');
  return effect;
}

/** The person saves this text in the editor and closes it. */
const write = (dash: Bench, text: string): Bench =>
  dash.send({ type: 'edited', effect: findEdit(dash), text });

const loseEngine = (dash: Bench): Bench =>
  dash.send({ type: 'link', link: { phase: 'lost', reason: 'gone', since: NOW } });
const findEngine = (dash: Bench): Bench =>
  dash.send({ type: 'link', link: { phase: 'live', reason: null, since: NOW } });

describe('a form that the engine refuses', () => {
  const choices = {
    agents: [{ id: 'claude', command: 'claude -p {{prompt}}', installed: true }],
    default_agent: 'claude',
    templates: [],
    projects: [{ id: 'acme', folder: '/repository', own: true }],
  };
  const writeTask = (): Bench =>
    bench()
      .data({ tasks: [taskRow(1)], choices })
      .keys('n', 'H', 'i', ...Array<string>(7).fill('tab'))
      .send({ type: 'paste', text: 'It says hi' })
      .keys('ctrl+s');

  it('the form reopens with everything that was typed, and is sent again', () => {
    const dash = refuse(writeTask());
    assert.match(shown(dash), /New task/);
    assert.match(shown(dash), /✗ must have at most 500 characters/);
    dash.keys('ctrl+s');
    const [first, second] = dash.calls();
    assert.equal(first?.operation, 'task.add');
    assert.deepEqual(second, first);
    assert.deepEqual(second?.input, { title: 'Hi', acceptance_criteria: ['It says hi'], agent: 'claude' });
  });

  it('the form is not lost by leaving it: that asks, in any state of the engine', () => {
    const quits = (dash: Bench): number => dash.effects().filter((each) => each.do === 'quit').length;
    const dash = loseEngine(writeTask());
    const call = dash.effects().findLast((each) => each.do === 'call');
    assert.ok(call?.do === 'call');
    dash.send({ type: 'refused', busy: call.busy, text: 'no engine', form: call.form });
    dash.keys('q');
    assert.match(shown(dash), /Quit and lose what you wrote in 1 form that was not sent\?.*y quit/s);
    loseEngine(dash);
    assert.notEqual(dash.state().armed, null, 'another failed attempt does not withdraw the question');
    dash.keys('esc');
    assert.equal(quits(dash), 0);
    assert.equal(quits(dash.keys('q', 'q')), 0, 'pressing the same key twice does not answer');
    assert.equal(quits(dash.keys('q', 'y')), 1);
    findEngine(dash);
    assert.match(shown(dash), /New task[\s\S]*It says hi/);
    assert.equal(quits(dash.wait(600).keys('esc', 'q')), 1, 'its text is kept as a draft');
    assert.equal(quits(dash.keys('y')), 2);
    assert.equal(quits(loseEngine(bench()).keys('q')), 1);
  });

  it('the form does not interrupt other work, and reopens after that', () => {
    const dash = writeTask().keys('?');
    const effect = dash.effects().findLast((each) => each.do === 'call');
    assert.ok(effect?.do === 'call');
    dash.send({ type: 'refused', busy: effect.busy, text: 'no', form: effect.form });
    assert.equal(dash.state().overlay?.kind, 'help');
    assert.match(dash.state().message?.text ?? '', /^no; what you wrote comes back$/);
    dash.keys('esc', 'enter');
    assert.match(shown(dash), /New task[\s\S]*It says hi/);
    assert.equal(dash.calls().length, 1, 'a key for something else sends nothing');
    assert.equal(dash.wait(600).keys('ctrl+s').calls().length, 2);
  });

  it('a message and an answer reopen too', () => {
    const bus = bench()
      .keys('2')
      .data({ messages: [messageRow(1)], peers: [peerRow('chair-1', { seat: 'chair' })] })
      .keys('n', 'tab', 'tab', 'h', 'i', 'enter');
    assert.match(shown(refuse(bus)), /hi▏/);
    const ask = bench()
      .data({ asks: [askRow(31, { options: [] })] })
      .wait(300)
      .keys('enter', 'h', 'i', 'enter');
    assert.match(shown(refuse(ask)), /hi▏/);
  });

  it('a comment of several lines reopens whole, is sent again unchanged, and can continue in the editor', () => {
    const body = 'First the reason.\n\nThen what to do.';
    const dash = openDiff().keys('c', 'c', 'ctrl+e');
    refuse(write(dash, `${body}\n`));
    assert.match(shown(dash), /First the reason\. … \(3 lines\)/);
    dash.keys('x', 'backspace', 'enter');
    const [first, second, ...others] = dash.calls();
    assert.deepEqual([second, others], [first, []]);
    assert.equal((first!.input as { body: string }).body, body);
    refuse(dash);
    assert.equal(findEdit(dash.keys('ctrl+e')).text, body);
    refuse(write(dash, 'one line'));
    assert.match(shown(dash), /one line▏/);
  });

  it('a form is not lost while the engine is away', () => {
    const dash = loseEngine(openDiff().keys('c', 'c', 'ctrl+e'));
    write(dash, 'one\ntwo');
    assert.deepEqual(dash.calls(), []);
    assert.match(shown(dash), /one … \(2 lines\)/);
  });

  it('an answer to a question that was answered by someone else does not reopen', () => {
    const ask = bench()
      .data({ asks: [askRow(31, { options: [] })] })
      .wait(300)
      .keys('enter', 'h', 'i', 'enter')
      .data({
        asks: [askRow(31, { options: [], status: 'answered', answer: 'no', answered_by: 'chair-3' })],
      });
    assert.equal(refuse(ask, 'ask 31 was answered').state().overlay, null);
  });

  it('a reason reopens too', () => {
    const dash = openDecision().keys('d', 'r', 'n', 'o', 'enter');
    assert.match(shown(refuse(dash)), /deny d-1 because: no▏/);
  });
});

const openDecision = (): Bench => showDecision(bench().data({ decisions: [decisionRow(1)] }), 1).wait(300);

const openMemory = (): Bench =>
  bench()
    .keys('M')
    .data({
      memories: { filter: '', memories: [memoryRow(1)], active: 1, unreviewed: 0, conflicts: 0, brief: null },
    })
    .wait(300);

const openEnded = (): Bench =>
  showComments(showWork(bench().data({ sessions: [sessionRow(1, { worktree: '/w/s-1' })] }), 1), 1, []).wait(
    300,
  );

describe('a text from the editor that the engine refuses', () => {
  const cases = [
    {
      what: 'the prompt of a decision',
      open: () => openDecision().keys('e'),
      text: 'Do this.\n\nThen that.\n',
      seen: /prompt of d-1, not saved: Do this\. … \(3 lines\)/,
      send: 'enter',
      goOn: 'ctrl+e',
    },
    {
      what: 'a memory',
      open: () => openMemory().keys('e'),
      text: '# Another title\n\nAnother text.\n',
      seen: /m-\w+, not saved: # Another title … \(3 lines\)/,
      send: 'enter',
      goOn: 'ctrl+e',
    },
    {
      what: 'what a worker is to do next',
      open: () => openEnded().keys('F', 'y'),
      text: 'Add a test.\nThen stop.\n',
      seen: /Send this to s-1\?[\s\S]*Add a test\.[\s\S]*Then stop\./,
      send: 'y',
      goOn: 'e',
    },
  ];
  for (const { what, open, text, seen, send, goOn } of cases) {
    it(`${what} reopens, continues in the editor, and is sent again unchanged`, () => {
      const dash = refuse(write(open(), text));
      assert.match(shown(dash), seen);
      assert.match(shown(dash), /✗ must have at most 500 characters/);
      assert.equal(findEdit(dash.keys(goOn)).text, text);
      dash.send({ type: 'message', text: 'the editor ended with exit code 1', tone: 'bad' });
      refuse(dash.wait(60).keys(send));
      const [first, second, ...others] = dash.calls();
      assert.ok(first);
      assert.deepEqual([second, others], [first, []]);
      assert.match(shown(dash), seen);
      assert.equal(dash.keys('esc').state().overlay, null);
    });

    it(`${what} waits while the engine is not running, leaves the keys free, and reopens with it`, () => {
      const dash = refuse(write(loseEngine(open()), text), 'the engine is not running');
      assert.match(
        dash.state().message?.text ?? '',
        /^the engine is not running; what you wrote comes back$/,
      );
      assert.equal(dash.keys('u').effects().at(-1)?.do, 'start-engine');
      assert.match(shown(findEngine(dash)), seen);
    });
  }

  it('a text does not replace another open form', () => {
    const dash = openDecision().keys('e');
    write(dash, 'First.');
    dash.keys('?');
    const effect = dash.effects().findLast((each) => each.do === 'call');
    assert.ok(effect?.do === 'call');
    dash.send({ type: 'refused', busy: effect.busy, text: 'no', form: effect.form });
    loseEngine(dash).keys('esc');
    assert.equal(dash.state().overlay, null);
    assert.match(shown(findEngine(dash)), /not saved: First\./);
  });

  it('a memory without a text is refused and reopens', () => {
    const dash = write(openMemory().keys('e'), '# Only a title\n');
    assert.deepEqual(dash.calls(), []);
    assert.match(dash.state().message?.text ?? '', /it needs a title and a text/);
    assert.match(shown(dash), /not saved: # Only a title/);
  });

  it('a follow-up whose worker has changed stays, to be reviewed again', () => {
    const dash = refuse(write(openEnded().keys('F', 'y'), 'Add a test.'));
    dash
      .data({ sessions: [sessionRow(1, { worktree: '/w/s-1', head_commit: 'e'.repeat(40) })] })
      .wait(60)
      .keys('y');
    assert.equal(dash.calls().length, 1);
    assert.match(dash.state().message?.text ?? '', /s-1 has changed: check it again/);
    assert.match(shown(dash), /Send this to s-1\?[\s\S]*Add a test\./);
    assert.equal(dash.wait(60).keys('y').calls().length, 2);
  });
});

describe('a form that is left while the engine is not running', () => {
  it('the form reopens when the engine returns, so that u can start it', () => {
    const dash = openDiff().keys('c', 'c');
    dash.send({ type: 'paste', text: 'Why?' });
    loseEngine(dash).keys('enter', 'esc');
    assert.equal(dash.state().overlay, null);
    assert.match(dash.state().message?.text ?? '', /comes back with the engine/);
    assert.equal(dash.keys('u').effects().at(-1)?.do, 'start-engine');
    assert.match(shown(findEngine(dash)), /Why\?▏/);
    assert.equal(dash.wait(600).keys('esc').state().overlay, null);
    assert.match(shown(findEngine(loseEngine(dash))), /^(?![\s\S]*Why\?▏)/);
  });

  it('an empty form does not reopen', () => {
    const dash = loseEngine(openDiff().keys('c', 'c')).keys('esc');
    assert.equal(findEngine(dash).state().overlay, null);
  });
});
