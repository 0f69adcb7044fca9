import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type { DesktopNotice } from '../../../engine/notify/desktop.ts';
import { type NotifyRig, notifyRig } from './rig.ts';

/** Longer than events are gathered. */
const SOON = 1000;
/** Longer than the pause between two notices. */
const LATER = 10_000;

const open: NotifyRig[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

function openRig(): NotifyRig {
  const rig = notifyRig([]);
  rig.desktop = true;
  open.push(rig);
  return rig;
}

const end = (rig: NotifyRig, kind: 'sealed' | 'failed', taskId = 't-1') =>
  rig.storage.write(() => rig.events.append({ kind, taskId, sessionId: null }));
const ask = (rig: NotifyRig, id: number, to = 'chair') =>
  rig.storage.write(() => rig.events.append({ kind: 'ask_opened', data: { ask_id: id, from: 's-3', to } }));
const texts = (rig: NotifyRig) => rig.shown.map(({ text }) => text);

describe('a notice on the desktop', () => {
  test('a decision, a question and an end are shown, each in a line', async () => {
    const rig = openRig();
    await rig.makeTask('Fix the <b>login</b>');
    await rig.advance(SOON);
    rig.questions.set(1, 'Keep\nit?');
    await ask(rig, 1);
    await rig.advance(LATER);
    await end(rig, 'failed');
    await rig.advance(LATER);
    assert.deepEqual(rig.shown, [
      { title: 'svc bench', text: 'Waits for approval: Fix the <b>login</b> (t-1, d-1)' },
      { title: 'svc bench', text: 's-3 asks: Keep it?' },
      { title: 'svc bench', text: 'Failed: Fix the <b>login</b> (t-1)' },
    ]);
  });

  test('many at once are one, and the next waits a while', async () => {
    const rig = openRig();
    for (let count = 0; count < 5; count++) await rig.makeTask();
    await end(rig, 'sealed');
    await rig.advance(SOON);
    for (let count = 0; count < 5; count++) {
      await end(rig, 'sealed');
      await rig.advance(SOON);
    }
    assert.deepEqual(texts(rig), ['5 wait for approval, 1 run sealed']);
    await rig.advance(LATER);
    assert.deepEqual(texts(rig).slice(1), ['5 runs sealed']);
  });

  test('what is over by then is not shown', async () => {
    const rig = openRig();
    await rig.makeTask();
    await rig.storage.write(() => rig.workflow.deny('d-1', 'no', { actor: 'ann', via: 'cli' }));
    await ask(rig, 9);
    await rig.advance(SOON);
    assert.deepEqual(texts(rig), []);
  });

  test('an event that was rolled back, a question to a session, and other events are not shown', async () => {
    const rig = openRig();
    const undone = rig.storage.write(() => {
      rig.events.append({ kind: 'sealed', taskId: null });
      throw new Error('no');
    });
    await assert.rejects(undone);
    rig.questions.set(1, 'Well?');
    await ask(rig, 1, 's-4');
    await rig.storage.write(() => rig.events.append({ kind: 'alert', data: { title: 'look' } }));
    await rig.advance(SOON);
    assert.deepEqual(texts(rig), []);
  });

  test('notify.desktop turns it off, also for what already waits', async () => {
    const rig = openRig();
    await rig.makeTask();
    rig.desktop = false;
    await rig.advance(SOON);
    await rig.makeTask();
    rig.desktop = true;
    await rig.advance(LATER);
    assert.deepEqual(texts(rig), []);
  });

  test('quiet hours end with one summary of what is still open', async () => {
    const rig = openRig();
    rig.quiet = '22:00-07:00 UTC';
    rig.clock.set(Date.parse('2026-01-02T23:00:00Z'));
    await rig.makeTask();
    await rig.makeTask();
    await end(rig, 'sealed');
    await rig.storage.write(() => rig.workflow.deny('d-1', 'no', { actor: 'ann', via: 'cli' }));
    await rig.advance(7 * 3_600_000);
    assert.deepEqual(texts(rig), []);
    await rig.advance(3_600_000);
    assert.deepEqual(texts(rig), ['1 waits for approval, 1 run sealed']);
  });
});

test('a notice waits for quiet hours only while they are configured', async () => {
  const rig = openRig();
  rig.quiet = '00:00-23:59 UTC';
  await rig.makeTask();
  await rig.advance(LATER);
  assert.deepEqual(texts(rig), []);
  rig.quiet = '';
  await rig.storage.write(() => rig.events.append({ kind: 'config_reloaded' }));
  await rig.advance(SOON);
  assert.equal(rig.shown.length, 1);
});

describe('a notice on the terminal of a dashboard', () => {
  function follow(rig: NotifyRig, shows: boolean) {
    const seen: DesktopNotice[] = [];
    const { close } = rig.notify.followNotices({ shows, onNotice: (notice) => void seen.push(notice) });
    return { seen, close };
  }

  test('the newest dashboard that can show it gets it, instead of the desktop', async () => {
    const rig = openRig();
    const [first, second, plain] = [follow(rig, true), follow(rig, true), follow(rig, false)];
    await rig.makeTask();
    await rig.advance(SOON);
    assert.deepEqual(
      [first, second, plain].map(({ seen }) => seen.length),
      [0, 1, 0],
    );
    second.close();
    await rig.makeTask();
    await rig.advance(LATER);
    assert.equal(first.seen.length, 1);
    first.close();
    await rig.makeTask();
    await rig.advance(LATER);
    assert.equal(rig.shown.length, 1, 'the desktop, since the other terminal has only a bell');
    assert.equal(plain.seen.length, 0);
  });

  test('a terminal with only a bell is used where there is no desktop', async () => {
    const rig = openRig();
    rig.hasDesktop = false;
    const plain = follow(rig, false);
    await rig.makeTask();
    await rig.advance(SOON);
    assert.equal(plain.seen.length, 1);
    assert.deepEqual(rig.shown, []);
  });
});
