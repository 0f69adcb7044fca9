import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Effect } from '../../../tui/actions/transition.ts';
import {
  askRow,
  type Bench,
  bench,
  messageRow,
  NOW,
  peerRow,
  sessionRow,
  showWork,
  taskRow,
} from '../../support/dashboard.ts';
import { screenOf } from '../../support/render.tsx';

const shown = (dash: Bench): string => screenOf(dash.state()).join('\n');

/** The diff of s-1 over the whole screen. */
const openDiff = (): Bench =>
  showWork(
    bench(80, 30)
      .data({ sessions: [sessionRow(1, { worktree: '/w/s-1' })] })
      .keys('4', 'v', 'enter'),
    1,
    { patch: { text: 'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+new\n', truncated: false } },
  );

/** The engine refuses what was sent last. */
function refuse(dash: Bench, text = 'must have at most 500 characters'): Bench {
  const effect = dash.effects().findLast((each) => each.do === 'call');
  assert.ok(effect?.do === 'call');
  assert.equal(dash.state().overlay, null);
  return dash.send({ type: 'refused', busy: effect.busy, text, form: effect.form });
}

describe('a form that the engine refuses', () => {
  const choices = {
    agents: [{ id: 'claude', command: 'claude -p {{prompt}}', installed: true }],
    default_agent: 'claude',
    templates: [],
    projects: [{ id: 'acme', folder: '/repository', own: true }],
  };
  const writeTask = (): Bench =>
    bench()
      .keys('1')
      .data({ tasks: [taskRow(1)], choices })
      .keys('n', 'tab', 'tab', 'H', 'i', 'tab', 'tab')
      .send({ type: 'paste', text: 'It says hi' })
      .keys('enter');

  it('comes back with all that was typed, and is sent again', () => {
    const dash = refuse(writeTask());
    assert.match(shown(dash), /New task/);
    assert.match(shown(dash), /✗ must have at most 500 characters/);
    dash.keys('enter');
    const [first, second] = dash.calls();
    assert.equal(first?.operation, 'task.add');
    assert.deepEqual(second, first);
    assert.deepEqual(second?.input, { title: 'Hi', acceptance_criteria: ['It says hi'], agent: 'claude' });
  });

  it('does not come between a person and what they do by now', () => {
    const dash = writeTask().keys('?');
    const effect = dash.effects().findLast((each) => each.do === 'call');
    assert.ok(effect?.do === 'call');
    dash.send({ type: 'refused', busy: effect.busy, text: 'no', form: effect.form });
    assert.equal(dash.state().overlay?.kind, 'help');
  });

  it('a message and an answer come back too', () => {
    const bus = bench()
      .keys('5')
      .data({ messages: [messageRow(1)], peers: [peerRow('chair-1', { seat: 'chair' })] })
      .keys('n', 'tab', 'tab', 'h', 'i', 'enter');
    assert.match(shown(refuse(bus)), /hi▏/);
    const ask = bench()
      .keys('3')
      .data({ asks: [askRow(31, { options: [] })] })
      .wait(300)
      .keys('enter', 'h', 'i', 'enter');
    assert.match(shown(refuse(ask)), /hi▏/);
  });

  it('a comment of several lines comes back whole, is sent again as it is, and goes on in the editor', () => {
    const body = 'First the reason.\n\nThen what to do.';
    const dash = openDiff().keys('c', 'c', 'ctrl+e');
    const edit = (): Effect & { do: 'edit' } => {
      const effect = dash.effects().findLast((each) => each.do === 'edit');
      assert.ok(effect?.do === 'edit');
      return effect;
    };
    refuse(dash.send({ type: 'edited', effect: edit(), text: `${body}\n` }));
    assert.match(shown(dash), /First the reason\. … \(3 lines\)/);
    dash.keys('x', 'backspace', 'enter');
    const [first, second, ...others] = dash.calls();
    assert.deepEqual([second, others], [first, []]);
    assert.equal((first!.input as { body: string }).body, body);
    refuse(dash);
    assert.equal(dash.keys('ctrl+e') && edit().text, body);
    refuse(dash.send({ type: 'edited', effect: edit(), text: 'one line' }));
    assert.match(shown(dash), /one line▏/);
  });

  it('nor is it lost while the engine is away', () => {
    const dash = openDiff().keys('c', 'c', 'ctrl+e');
    const effect = dash.effects().findLast((each) => each.do === 'edit');
    assert.ok(effect?.do === 'edit');
    dash
      .send({ type: 'link', link: { phase: 'lost', reason: 'gone', since: NOW } })
      .send({ type: 'edited', effect, text: 'one\ntwo' });
    assert.deepEqual(dash.calls(), []);
    assert.match(shown(dash), /one … \(2 lines\)/);
  });

  it('an answer to a question that was answered meanwhile does not', () => {
    const ask = bench()
      .keys('3')
      .data({ asks: [askRow(31, { options: [] })] })
      .wait(300)
      .keys('enter', 'h', 'i', 'enter')
      .data({
        asks: [askRow(31, { options: [], status: 'answered', answer: 'no', answered_by: 'chair-3' })],
      });
    assert.equal(refuse(ask, 'ask 31 was answered').state().overlay, null);
  });
});
