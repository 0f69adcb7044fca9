import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Bench,
  bench,
  lockRow,
  messageRow,
  peerRow,
  sessionRow,
} from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const openBus = (): Bench =>
  bench()
    .keys('2')
    .data({
      messages: [
        messageRow(1, { acked_at: '2026-03-01T11:59:00Z', acked_by: 'chair-1' }),
        messageRow(2),
        messageRow(3, { kind: 'alert', parent_id: 2, from_session: null, from_agent: null }),
        messageRow(4, { from_session: 's-2', to_session: 's-1' }),
      ],
      unread: { unread: 2, alerts: 1 },
      peers: [peerRow('chair-1', { seat: 'chair', worker_id: null, task_id: null }), peerRow('s-1')],
      locks: [lockRow('docs', { fence: 4 }), lockRow('engine/a.ts')],
      sessions: [sessionRow(1, { state: 'running', ended_at: null })],
    });
const lastMessage = (dash: Bench): string => dash.state().message?.text ?? '';
const selectMessage = (dash: Bench, id: number): Bench => {
  dash.send({ type: 'go', pane: 'bus', id: String(id) });
  return dash;
};
const readScreen = (dash: Bench): string => screenOf(dash.state()).join('\n');

describe('the messages pane', () => {
  it('messages are shown newest first, with unread ones marked and alerts counted separately', () => {
    const dash = openBus();
    assert.deepEqual(dash.state().lists.bus.ids, ['4', '3', '2', '1']);
    assert.match(readScreen(dash), /\[2 Bus 2, 1 alert\]/);
    assert.match(readScreen(selectMessage(dash, 2)), /▶2 +unread note +s-1/);
  });

  it('the preview has the whole text, the thread and the delivery of the notice', () => {
    const failed = {
      delivery: 'failed',
      attempts: 3,
      last_error: 'HTTP 500',
      payload_path: 'out/a.md',
    } as const;
    const shown = readScreen(selectMessage(openBus().data({ messages: [messageRow(2, failed)] }), 2));
    for (const part of ['with a second line', 'out/a.md', 'failed after 3 tries', 'HTTP 500', '1 reply'])
      assert.ok(shown.includes(part), `${part} is not in\n${shown}`);
    assert.match(readScreen(selectMessage(openBus(), 3)), /reply to 2 s-1 claude: Message number 2/);
  });

  it('a acknowledges, once, and refuses a message for a session here', () => {
    assert.deepEqual(selectMessage(openBus(), 2).keys('a').calls(), [
      { operation: 'msg.ack', input: { id: 2, as_person: true } },
    ]);
    assert.match(lastMessage(selectMessage(openBus(), 1).keys('a')), /already acknowledged/);
    const other = selectMessage(openBus(), 4).keys('a');
    assert.match(lastMessage(other), /s-1 is connected and has to read it itself/);
    assert.deepEqual(other.calls(), []);
  });

  it('a burst, and a key just after the program moved the cursor, acknowledges nothing', () => {
    const dash = selectMessage(openBus(), 2).burst('a', 'a');
    assert.deepEqual(dash.calls(), []);
    dash.data({ reset: true, messages: [messageRow(9)] });
    dash.send({ type: 'keys', keys: ['a'], at: dash.state().now + 50 });
    assert.deepEqual(dash.calls(), []);
  });

  it('r replies to the sender, in the thread', () => {
    const dash = selectMessage(openBus(), 2).keys('r', 'o', 'k').send({ type: 'paste', text: ' then\n' });
    assert.deepEqual(dash.calls(), []);
    assert.deepEqual(dash.keys('enter').calls(), [
      { operation: 'msg.send', input: { to_session: 's-1', kind: 'note', body: 'ok then', parent_id: 2 } },
    ]);
    assert.match(lastMessage(selectMessage(openBus(), 3).keys('r')), /came from no session/);
  });

  it('n writes to a chosen recipient, with a kind, and a text from the editor', () => {
    const dash = openBus().keys('n', 'right', 'right', 'tab', 'left', 'tab', 'ctrl+e');
    const effect = dash.effects().find((each) => each.do === 'edit')!;
    dash.send({ type: 'edited', effect: effect as never, text: 'one\ntwo\n' });
    // Peers that appear or disappear in the meantime do not change the recipient.
    dash.data({ peers: [] }).keys('enter');
    assert.deepEqual(dash.calls(), [
      { operation: 'msg.send', input: { to_session: 's-1', kind: 'alert', body: 'one\ntwo' } },
    ]);
  });

  it('m writes to a worker and says when it reads the message; for an ended one it offers F instead', () => {
    const dash = bench()
      .data({
        sessions: [
          sessionRow(1, { state: 'running', ended_at: null, reads_messages: 'tool_call' }),
          sessionRow(2),
        ],
      })
      .keys('j', 'm');
    assert.match(readScreen(dash), /s-1 reads it at its next tool call/);
    dash.keys('h', 'i', 'enter');
    assert.deepEqual(dash.calls(), [
      { operation: 'msg.send', input: { to_session: 's-1', kind: 'note', body: 'hi' } },
    ]);
    const effect = dash.effects().find((each) => each.do === 'call')!;
    dash.send({ type: 'answered', effect: effect as never, answer: { known: true } });
    assert.match(lastMessage(dash), /the note is sent: s-1 reads it at its next tool call/);
    dash.keys('k', 'm');
    assert.equal(dash.state().overlay, null);
    assert.match(lastMessage(dash), /s-2 has finished; press F to give it more work/);
  });

  it('U and y interrupt a worker on acp, and no other', () => {
    const run = (transport: 'acp' | 'subprocess') =>
      bench()
        .data({ sessions: [sessionRow(1, { state: 'running', ended_at: null, transport })] })
        .keys('B', 'y');
    assert.deepEqual(run('acp').calls(), [{ operation: 'worker.interrupt', input: { session: 's-1' } }]);
    const other = run('subprocess');
    assert.deepEqual(other.calls(), []);
  });

  it('an empty message is not sent, and Esc cancels it', () => {
    const dash = openBus().keys('n', 'enter');
    assert.match(lastMessage(dash), /needs a text/);
    assert.deepEqual(dash.keys('esc', 'enter').calls(), []);
  });
});

describe('peers and locks', () => {
  it('w and L show them in place of the messages, Esc goes back', () => {
    const dash = openBus().keys('w');
    assert.equal(dash.state().focus, 'peers');
    assert.match(readScreen(dash), /\[2 Bus 2, 1 alert · Participants\]/);
    assert.deepEqual(dash.state().lists.peers.ids, ['chair-1', 's-1']);
    assert.equal(dash.keys('L').state().focus, 'locks');
    assert.equal(dash.keys('esc').state().focus, 'bus');
    assert.equal(dash.keys('w', 'esc', '3').state().focus, 'events');
  });

  it('n writes to the peer under the cursor', () => {
    const dash = openBus().keys('w', 'j', 'n', 'h', 'i', 'enter');
    assert.deepEqual(dash.calls(), [
      { operation: 'msg.send', input: { to_session: 's-1', kind: 'note', body: 'hi' } },
    ]);
  });

  it('x y releases the lock that was shown, and no other', () => {
    const dash = openBus().keys('L', 'x');
    assert.match(
      dash.state().armed?.question ?? '',
      /Release engine\/a\.ts, held by s-1, worker w-1 \(claude\), running\? It may be writing there/,
    );
    assert.deepEqual(dash.keys('y').calls(), [
      { operation: 'lock.release', input: { holder: 's-1', path: 'engine/a.ts' } },
    ]);
    const changed = openBus()
      .keys('L', 'x')
      .data({ locks: [lockRow('engine/a.ts', { holder: 's-9', fence: 7 })] });
    assert.deepEqual(changed.keys('y').calls(), []);
    assert.match(lastMessage(changed), /nothing|changed/);
  });

  it('a worker that holds locks shows them', () => {
    assert.match(readScreen(openBus().keys('1')), /2 locks/);
  });
});
