import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import {
  onBothDatabases,
  openBrowser,
  PASSWORD,
  type startTestServer,
} from '../../../support/server/linked-server.ts';
import { listPageFaults } from '../../../support/server/page-faults.ts';
import { until } from '../../../support/wait.ts';
import { addOtherAccount } from '../deliveries/rig.ts';
import { ANN, type ChatRig, chatRig, STRANGER } from './rig.ts';

const rigs: ChatRig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});
async function openRig(start: typeof startTestServer): Promise<ChatRig> {
  const rig = await chatRig(start);
  rigs.push(rig);
  return rig;
}

const OPS = { id: -1001234, type: 'supergroup', title: 'Ops <b>*team*</b>' } as const;
const BOB = { id: 4202, first_name: 'Bob' };
const readCode = (text: string): string => /[A-Z]{4}-[A-Z]{4}/.exec(text)![0];

/** Bob, a member of Ann's account, in a separate browser. */
async function addBob({ ann, server }: ChatRig) {
  const page = await ann.post('/app/people', { name: 'bob', role: 'member' });
  const bob = openBrowser(server);
  await bob.post(/\/invitation\/[\w-]+/.exec(page.text)![0], { password: PASSWORD });
  await bob.post('/sign-in', { name: 'bob', password: PASSWORD, next: '' });
  return bob;
}

/** Ann sends events of her account to the group. */
async function allowGroup({ ann, telegram }: ChatRig): Promise<void> {
  const code = readCode((await ann.post('/app/chats/channels/telegram/code')).text);
  const before = telegram.messagesTo(ANN.id).length;
  telegram.say(ANN, `/connect@svc_test_bot ${code}`, OPS);
  await until(() => telegram.messagesTo(ANN.id).length > before, 'the answer to a code in a group');
  await ann.post('/app/chats/channels/telegram', { channel: String(OPS.id), answer: 'yes' });
}

onBothDatabases((start) => {
  it('a code connects its confirmed sender, once, within ten minutes', async () => {
    const rig = await openRig(start);
    const { ask, server } = rig;
    const bob = await addBob(rig);
    const code = readCode((await bob.post('/app/chats/connect/telegram/code')).text);
    assert.match(await ask(BOB, 'AAAA-BBBB'), /know|connected/, 'an invalid code is rejected');
    assert.match(await ask(BOB, '/start BCDF-GHJK'), /wrong, used or too old/);
    assert.match(await ask(ANN, code.toLowerCase()), /speak for another person/);
    assert.match(await ask(BOB, `/start ${code}`), /Now answer the question/);
    assert.match(await ask(STRANGER, `/start ${code}`), /wrong, used or too old/, 'once');
    server.clock.advance(5 * 60_000);
    assert.match(await ask(BOB, 'waiting'), /not connected/, 'not before the page is answered');

    const page = await bob.get('/app/chats');
    assert.match(page.text, /Is this you in Telegram\?/);
    assert.match(page.text, /Bob, id 4202/);
    assert.deepEqual(await listPageFaults(page.text), []);
    const foreign = await rig.ann.post('/app/chats/connect/telegram', { user: '4202', answer: 'yes' });
    assert.equal(foreign.status, 409);
    const other = await bob.post('/app/chats/connect/telegram', { user: '6666', answer: 'yes' });
    assert.equal(other.status, 409, 'only the sender of the code');
    const yes = { user: '4202', answer: 'yes' };
    assert.equal((await bob.post('/app/chats/connect/telegram', yes)).location, '/app/chats?said=connected');
    assert.match(await ask(BOB, 'waiting'), /^No decisions are waiting/);
    assert.equal((await bob.post('/app/chats/connect/telegram', yes)).status, 409, 'once');

    await bob.post('/app/chats/disconnect/telegram');
    server.clock.advance(5 * 60_000);
    assert.match(await ask(BOB, 'waiting'), /not connected/);
    const late = readCode((await bob.post('/app/chats/connect/telegram/code')).text);
    server.clock.advance(10 * 60_000 + 1);
    assert.match(await ask(BOB, late), /wrong, used or too old/);
  });

  it('an unconnected person gets the same answer once in five minutes, and presses and codes are still accepted', async () => {
    const rig = await openRig(start);
    const { ask, press, telegram, workspace, messages, settle, server } = rig;
    await workspace.waits([{}]);
    await workspace.tell([{ event: 'needs_approval', decision_id: 'd-17' }]);
    await settle();
    const told = () => telegram.messagesTo(STRANGER.id).map(({ text }) => text);
    /**
     * Waits for the answers to all earlier messages: the bot asks for the second word only after it has sent those.
     */
    const allAnswered = async () => {
      for (const word of ['help', 'help']) await ask(ANN, word);
    };
    for (let at = 0; at < 20; at += 1) telegram.say(STRANGER, 'waiting');
    await allAnswered();
    assert.equal(told().length, 1);
    assert.match(told()[0]!, /^You are not connected/);
    const silent = telegram.press(STRANGER, messages()[0]!, 'Approve');
    await until(() => telegram.answers.has(silent), 'an end of the press');
    assert.equal(telegram.answers.get(silent), '');
    assert.deepEqual(await workspace.commands(), []);
    for (let at = 0; at < 14; at += 1) telegram.say(STRANGER, 'BCDF-GHJK');
    await allAnswered();
    assert.equal(told().filter((text) => /wrong, used or too old/.test(text)).length, 10);
    assert.equal(told().filter((text) => /Too many codes/.test(text)).length, 1);
    assert.match(await ask(BOB, 'waiting'), /^You are not connected/, 'one person cannot silence another');
    server.clock.advance(5 * 60_000);
    assert.match(await press(STRANGER, messages()[0]!, 'Approve'), /not connected/);
  });

  it('a code from another person is refused, and so are guesses', async () => {
    const rig = await openRig(start);
    const bob = await addBob(rig);
    const code = readCode((await bob.post('/app/chats/connect/telegram/code')).text);
    await rig.ask(STRANGER, code);
    assert.match((await bob.get('/app/chats')).text, /Mallory, id 6666/);
    await bob.post('/app/chats/connect/telegram', { user: '6666', answer: 'no' });
    assert.equal(
      (await bob.post('/app/chats/connect/telegram', { user: '6666', answer: 'yes' })).status,
      409,
    );
    for (let at = 0; at < 10; at += 1)
      assert.match(await rig.ask(STRANGER, 'BCDF-GHJK'), /wrong, used or too old|too many/i);
    assert.match(await rig.ask(STRANGER, 'BCDF-GHJL'), /Too many codes/);
  });

  it('the bot works in a group that an admin has allowed, for connected people', async () => {
    const rig = await openRig(start);
    const { ann, ask, telegram, workspace, settle, press, server } = rig;
    const bob = await addBob(rig);
    assert.equal((await bob.post('/app/chats/channels/telegram/code')).status, 404, 'admins only');
    const code = readCode((await ann.post('/app/chats/channels/telegram/code')).text);
    assert.match(await ask(STRANGER, `connect ${code}`), /Only the person who created that code/);
    telegram.say(ANN, `/connect@svc_test_bot ${code}`, OPS);
    const before = telegram.messagesTo(ANN.id).length;
    await until(() => telegram.messagesTo(ANN.id).length > before, 'the answer to a code in a group');
    const page = await ann.get('/app/chats');
    assert.match(page.text, /Ops &lt;b&gt;\*team\*&lt;\/b&gt;, id -1001234/);
    assert.deepEqual(await listPageFaults(page.text), []);
    const allowed = await ann.post('/app/chats/channels/telegram', { channel: '-1001234', answer: 'yes' });
    assert.equal(allowed.location, '/app/chats?said=added');

    await workspace.waits([{}]);
    await workspace.tell([{ event: 'needs_approval', decision_id: 'd-17' }]);
    await settle();
    const [shown] = telegram.messagesTo(OPS.id);
    assert.match(await press(STRANGER, shown!, 'Approve'), /not connected/);
    assert.deepEqual(await workspace.commands(), []);
    await press(ANN, shown!, 'Deny');
    assert.equal((await workspace.commands()).length, 1);
    await settle();
    assert.deepEqual(shown!.keyboard, []);
    assert.equal(rig.messages()[0]!.text, shown!.text, 'all copies are updated');

    const spoken = telegram.messagesTo(OPS.id).length;
    telegram.say(ANN, 'waiting', OPS);
    telegram.say(ANN, '/waiting@another_bot', OPS);
    telegram.say({ ...ANN, id: 1087968824 }, '/waiting@svc_test_bot', OPS);
    assert.match(await ask(ANN, 'help'), /mute/);
    assert.equal(telegram.messagesTo(OPS.id).length, spoken, 'answers go to one person only');

    const id = /\/app\/chats\/channel\/(h_[\w-]+)">Ops/.exec((await ann.get('/app/chats')).text)![1];
    const stranger = await addOtherAccount(ann, server);
    for (const path of [`/app/chats/channel/${id}`, `/app/chats/channel/${id}/remove`])
      assert.equal((await stranger.get(path)).status, 404);
    assert.equal((await stranger.post(`/app/chats/channel/${id}/remove`)).status, 404);
    const wrong = await ann.post(`/app/chats/channel/${id}`, { 'events[]': 'everything' });
    assert.equal(wrong.status, 422);
    await ann.post(`/app/chats/channel/${id}`, { 'events[]': 'alert' });
    assert.deepEqual(await listPageFaults((await ann.get(`/app/chats/channel/${id}`)).text), []);
    await ann.post(`/app/chats/channel/${id}/remove`);
    const old = { ...shown!, keyboard: [[{ text: 'Deny', callback_data: 'x'.repeat(43) }]] };
    assert.match(await press(ANN, old, 'Deny'), /no longer known/);
  });

  it('the bot does nothing for removed people and other accounts', async () => {
    const rig = await openRig(start);
    const { ann, workspace, settle, messages, press, server } = rig;
    const bob = await addBob(rig);
    await rig.connect(bob, BOB);
    const carl = await addOtherAccount(ann, server);
    await rig.connect(carl, STRANGER);
    await workspace.waits([{}]);
    await workspace.tell([{ event: 'needs_approval', decision_id: 'd-17' }]);
    await settle();
    const [shown] = messages();
    assert.match(await press(STRANGER, shown!, 'Approve'), /no longer known/, 'a person of another account');
    const { people } = server.parts;
    await people.remove(await people.find('bob'), 'a test');
    assert.match(await press(BOB, shown!, 'Approve'), /not connected/);
    assert.deepEqual(await workspace.commands(), []);
  });

  it('a request of a person who disconnects or is removed is withdrawn, and its buttons return', async () => {
    const rig = await openRig(start);
    const { ann, workspace, settle, telegram, press, server } = rig;
    const bob = await addBob(rig);
    await rig.connect(bob, BOB);
    await allowGroup(rig);
    await workspace.waits([{}]);
    await workspace.tell([{ event: 'needs_approval', decision_id: 'd-17' }]);
    await settle();
    const [message] = telegram.messagesTo(OPS.id);
    const labels = () => message!.keyboard.flat().map(({ text }) => text);
    const shown = { ...message! };
    const before = labels();
    const { people } = server.parts;
    for (const [user, take] of [
      [ANN, () => ann.post('/app/chats/disconnect/telegram')],
      [BOB, async () => people.remove(await people.find('bob'), 'a test')],
    ] as const) {
      await press(user, shown, 'Approve');
      await settle();
      assert.equal((await workspace.commands()).length, 1);
      assert.notDeepEqual(labels(), before);
      await take();
      await settle();
      assert.deepEqual(await workspace.commands(), []);
      assert.deepEqual(labels(), before);
    }
  });

  it('nothing more is sent to the private chat of a person who disconnects, switches or is removed', async () => {
    const rig = await openRig(start);
    const { ann, workspace, settle, telegram, server, ask } = rig;
    const bob = await addBob(rig);
    const { people, chats } = server.parts;
    await people.setRole(await people.find('bob'), 'admin', 'a test');
    await bob.post('/sign-in', { name: 'bob', password: PASSWORD, next: '' });
    const heard = async (user: { id: number }): Promise<number> => {
      const before = telegram.messagesTo(user.id).length;
      await workspace.tell([{ event: 'failed' }]);
      await settle();
      server.clock.advance(61_000);
      return telegram.messagesTo(user.id).length - before;
    };
    const hear = () => bob.post('/app/chats/channels/telegram/private');
    await rig.connect(bob, BOB);
    await hear();
    assert.equal(await heard(BOB), 1);

    const other = { id: 4203, first_name: 'Bob', username: 'bob_2' };
    await rig.connect(bob, other);
    assert.equal(await heard(BOB), 0, 'replaced by another person');
    await hear();
    assert.equal(await heard(other), 1);
    await bob.post('/app/chats/disconnect/telegram');
    assert.equal(await heard(other), 0, 'disconnected');

    // Connected from a group, and then by a code in private.
    const sent = readCode((await bob.post('/app/chats/connect/telegram/code')).text);
    const before = telegram.messagesTo(BOB.id).length;
    telegram.say(BOB, `/connect@svc_test_bot ${sent}`, OPS);
    await until(() => telegram.messagesTo(BOB.id).length > before, 'the answer to a code in a group');
    await bob.post('/app/chats/connect/telegram', { user: '4202', answer: 'yes' });
    await ask(BOB, `connect ${readCode((await bob.post('/app/chats/channels/telegram/code')).text)}`);
    await bob.post('/app/chats/channels/telegram', { channel: '4202', answer: 'yes' });
    assert.equal(await heard(BOB), 1);
    await people.remove(await people.find('bob'), 'a test');
    assert.equal(await heard(BOB), 0, 'removed');
    const [home] = await people.listAccounts();
    assert.deepEqual(
      (await chats.channels.list(home!.id)).map(({ channel }) => channel),
      ['4201'],
      "other people's chats stay",
    );
    assert.equal((await ann.get('/app/chats')).status, 200);
  });
});
