import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startTelegram } from '../../../../fixtures/telegram/telegram.ts';
import { onBothDatabases } from '../../../support/server/linked-server.ts';
import { linkWorkspace } from '../../../support/server/linked-workspace.ts';
import { until } from '../../../support/wait.ts';
import { ANN, STRANGER } from './rig.ts';

onBothDatabases((start) => {
  it('a button in Telegram starts a worker, when the workspace allows it, and the message is updated', async (t) => {
    const telegram = await startTelegram();
    t.after(() => telegram.close());
    const linked = await linkWorkspace({
      start: (options) => start({ telegramApi: telegram.url, ...options }),
    });
    t.after(() => linked.close());
    const { server, ann, here, setDecide } = linked;
    const { plans, people } = server.parts;
    const [home] = await people.listAccounts();
    await plans.assign(home!, 'team', 'a test');
    await ann.post('/operator/bots/telegram', { token: telegram.token });
    const page = await ann.post('/app/chats/connect/telegram/code');
    telegram.say(ANN, `/start ${/[A-Z]{4}-[A-Z]{4}/.exec(page.text)![0]}`);
    await until(() => telegram.messagesTo(ANN.id).length === 1, 'the answer to the code');
    await ann.post('/app/chats/connect/telegram', { user: String(ANN.id), answer: 'yes' });
    await ann.post('/app/chats/channels/telegram/private');

    // No one outside the machine may decide: no buttons.
    const first = await here.ask('repair the door');
    const shownFor = (id: string) =>
      until(() => telegram.messagesTo(ANN.id).find(({ text }) => text.includes(`${id} about`)), id);
    const closed = await shownFor(first.decision_id!);
    assert.deepEqual(closed.keyboard, []);

    await setDecide({ ann: ['telegram'] });
    await until(() => closed.keyboard.length === 1, 'buttons');
    const pressed = { ...closed };
    const id = telegram.press(STRANGER, pressed, 'Approve');
    assert.match(await until(() => telegram.answers.get(id), 'an answer'), /not connected/);
    telegram.press(ANN, pressed, 'Approve');
    await until(() => /Approved by ann in Telegram\. s-\d+ has started\.$/.test(closed.text), 'the outcome');
    assert.deepEqual(closed.keyboard, []);
    const { decision } = await here.call('decision.show', { id: first.decision_id! });
    assert.equal(decision.decided_by, 'ann@telegram');
    await until(
      () => telegram.messagesTo(ANN.id).some(({ text }) => text.startsWith('Sealed: ')),
      'the news that it was sealed',
    );

    // Decided at the machine: the message reports it without a press.
    const second = await here.ask('paint the door');
    const other = await shownFor(second.decision_id!);
    await until(() => other.keyboard.length === 1, 'buttons');
    await here.call('decision.deny', { id: second.decision_id!, reason: 'not today' });
    await until(() => /It was denied\.$/.test(other.text), 'the end');
    assert.deepEqual(other.keyboard, []);
    assert.ok(
      !telegram.messages.some(({ text }) => /not today/.test(text)),
      'typed reasons stay on the machine',
    );
  });
});
