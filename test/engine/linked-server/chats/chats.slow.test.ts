import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { onBothDatabases, type startTestServer } from '../../../support/server/linked-server.ts';
import { ANN, type ChatRig, chatRig, STRANGER } from './rig.ts';

const rigs: ChatRig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});
async function openRig(
  start: typeof startTestServer,
  options: Parameters<typeof startTestServer>[0] = {},
): Promise<ChatRig> {
  const rig = await chatRig(start, options);
  rigs.push(rig);
  return rig;
}

const labelsOf = ({ keyboard }: { keyboard: { text: string }[][] }): string[] =>
  keyboard.flat().map(({ text }) => text);

const APPROVAL = { event: 'needs_approval', decision_id: 'd-17' } as const;

onBothDatabases((start) => {
  it('the bot lists pending decisions, accepts a press of a connected person, and shows the outcome', async () => {
    const { workspace, messages, press, settle } = await openRig(start);
    await workspace.waits([{}]);
    await workspace.tell([APPROVAL]);
    await settle();
    const [message] = messages();
    assert.deepEqual(message!.text.split('\n'), [
      'Waits for approval: Repair the login form',
      'Where: web-shop',
      'Agent: claude',
      'From: a signed request',
      'Why: the request did not ask for approval to be skipped',
      'Prompt 4,212 characters, not shown here',
      'd-17 about t-42, fingerprint ab12cd34',
    ]);
    assert.deepEqual(labelsOf(message!), ['Approve', 'Deny', 'Open']);

    assert.match(await press(STRANGER, message!, 'Approve'), /not connected/);
    assert.deepEqual(await workspace.commands(), []);

    assert.match(await press(ANN, message!, 'Approve'), /ann asked to approve this/);
    const [command, ...others] = await workspace.commands();
    assert.deepEqual(others, []);
    assert.partialDeepStrictEqual(command, {
      verb: 'approve',
      decision_id: 'd-17',
      person: 'ann',
      channel: 'telegram',
      hash: 'ab12cd34'.padEnd(64, '0'),
    });
    await settle();
    assert.deepEqual(labelsOf(message!), [], 'its buttons are gone');
    await workspace.answer(command!, { outcome: 'started', session_id: 's-9', state: 'approved' });
    await workspace.waits([]);
    await settle();
    assert.match(message!.text, /^Waited for approval/);
    assert.match(message!.text, /Approved by ann in Telegram\. s-9 has started\.$/);
  });

  it('two presses are one command, and a late one reports the outcome', async () => {
    const { workspace, messages, press, settle, telegram } = await openRig(start);
    await workspace.waits([{}]);
    await workspace.tell([APPROVAL]);
    await settle();
    const [message] = messages();
    const before = { ...message! };
    telegram.fail('answerCallbackQuery', { code: 500, description: 'Internal Server Error' }, 1);
    telegram.press(ANN, before, 'Approve');
    await press(ANN, before, 'Approve');
    const commands = await workspace.commands();
    assert.equal(commands.length, 1);
    await settle();
    assert.deepEqual(labelsOf(message!), [], 'its buttons are gone even after a failed acknowledgement');
    await workspace.answer(commands[0]!, { outcome: 'denied', state: 'denied' });
    await settle();
    assert.match(await press(ANN, before, 'Approve'), /Denied by ann in Telegram/, 'still listed as pending');
    await workspace.waits([]);
    await settle();
    assert.match(await press(ANN, before, 'Deny'), /Denied by ann in Telegram/);
    assert.deepEqual(await workspace.commands(), []);
  });

  it('the bot waits for the decision when its event arrives first', async () => {
    const { workspace, messages, settle, server } = await openRig(start);
    await workspace.tell([APPROVAL]);
    await settle();
    assert.deepEqual(messages(), []);
    await workspace.waits([{}]);
    await settle();
    assert.deepEqual(messages().map(labelsOf), [['Approve', 'Deny', 'Open']]);
    // A decision without an answer is shown without buttons; one that was decided in the meantime is not shown.
    await workspace.tell([{ ...APPROVAL, decision_id: 'd-18' }]);
    await workspace.tell([{ ...APPROVAL, decision_id: 'd-19' }]);
    await workspace.tell([{ event: 'approved', decision_id: 'd-19' }]);
    server.clock.advance(31_000);
    await settle();
    assert.deepEqual(messages().slice(1).map(labelsOf), [[]]);
    assert.match(messages()[1]!.text, /d-18/);
  });

  it('a message is updated when someone else decides, and when another decision becomes pending', async () => {
    const { workspace, messages, press, settle } = await openRig(start);
    await workspace.waits([{}]);
    await workspace.tell([APPROVAL]);
    await settle();
    const [message] = messages();
    const before = { ...message! };
    await workspace.waits([{ hash: 'f'.repeat(64) }]);
    await settle();
    assert.match(message!.text, /fingerprint ffffffff/);
    await press(ANN, before, 'Approve');
    const [command] = await workspace.commands();
    assert.match(command!.hash!, /^ab12cd34/, 'the hash that the message showed at the press');
    await workspace.answer(command!, { outcome: 'changed', state: 'pending' });
    await settle();
    assert.match(message!.text, /The decision has changed since you looked/);
    assert.deepEqual(labelsOf(message!), ['Approve', 'Deny', 'Open'], 'it is still pending');
    await workspace.waits([]);
    await settle();
    assert.match(message!.text, /It is no longer pending\.$/);
    await workspace.tell([{ event: 'denied', decision_id: 'd-17' }]);
    await settle();
    assert.match(message!.text, /It was denied\.$/);
    assert.deepEqual(labelsOf(message!), []);
  });

  it('a message has the buttons that the workspace allows', async () => {
    const { workspace, messages, settle, press } = await openRig(start);
    const decisions = ['yes', 'code', 'untrusted', 'off'].map((approval, at) => ({
      decision_id: `d-${at + 1}`,
      approval: approval as 'yes',
    }));
    await workspace.waits(decisions);
    await workspace.tell(decisions.map(({ decision_id }) => ({ event: 'needs_approval', decision_id })));
    await settle();
    assert.deepEqual(messages().map(labelsOf), [
      ['Approve', 'Deny', 'Open'],
      ['Deny', 'Approve with a code'],
      ['Deny', 'Open'],
      [],
    ]);
    const first = { ...messages()[0]! };
    await workspace.waits([{ ...decisions[0], approval: 'code' }]);
    assert.match(
      await press(ANN, first, 'Approve'),
      /one-time code/,
      'an outdated button does not count as a wrong code',
    );
    assert.deepEqual(await workspace.commands(), []);
    await workspace.waits([{ ...decisions[0] }], ['page', 'slack']);
    await settle();
    assert.deepEqual(labelsOf(messages()[0]!), []);
  });

  it('more than five messages within a minute become one', async () => {
    const { workspace, telegram, settle, server } = await openRig(start);
    const count = () =>
      telegram.messagesTo(ANN.id).filter(({ text }) => /Sealed|\d events?$/m.test(text)).length;
    for (let at = 0; at < 5; at += 1) {
      await workspace.tell([{ event: 'sealed' }]);
      await settle();
    }
    assert.equal(count(), 5);
    await workspace.tell([{ event: 'sealed' }, { event: 'failed' }, { event: 'failed' }]);
    await settle();
    await workspace.tell([{ event: 'sealed' }]);
    await settle();
    assert.equal(count(), 6);
    assert.equal(telegram.messagesTo(ANN.id).at(-1)!.text, '4 more events\nSealed: 2\nFailed: 2');
    server.clock.advance(61_000);
    for (let at = 0; at < 6; at += 1) {
      await workspace.tell([{ event: 'sealed' }]);
      await settle();
    }
    assert.equal(count(), 12);
    assert.equal(telegram.messagesTo(ANN.id).at(-1)!.text, '1 more event\nSealed: 1');
    server.clock.advance(61_000);
    await workspace.tell(Array.from({ length: 80 }, () => ({ event: 'sealed' })));
    await settle();
    assert.equal(count(), 13);
    assert.match(telegram.messagesTo(ANN.id).at(-1)!.text, /^80 events/);
    // One more within that minute does not start a new batch.
    server.clock.advance(30_000);
    await workspace.tell([{ event: 'failed' }]);
    await settle();
    assert.equal(count(), 13);
    assert.equal(telegram.messagesTo(ANN.id).at(-1)!.text, '81 events\nSealed: 80\nFailed: 1');
    server.clock.advance(31_000);
    await workspace.tell([{ event: 'sealed' }]);
    await settle();
    assert.equal(count(), 14);
    assert.doesNotMatch(telegram.messagesTo(ANN.id).at(-1)!.text, /\d events?$/m);
  });

  it("the bot respects Telegram's pause, and repeats messages that may not have arrived", async () => {
    const rig = await openRig(start);
    const { workspace, telegram, settle, server } = rig;
    await workspace.waits([{}]);
    telegram.fail('sendMessage', {
      code: 429,
      description: 'Too Many Requests: retry after 30',
      retryAfter: 30,
    });
    await workspace.tell([APPROVAL]);
    await settle();
    assert.equal(rig.messages().length, 0);
    server.clock.advance(29_000);
    await settle();
    assert.equal(rig.messages().length, 0);
    server.clock.advance(2000);
    telegram.fail('sendMessage', { cut: 'after' });
    await settle();
    assert.equal(rig.messages().length, 1, 'it arrived, but the answer did not');
    server.clock.advance(600_000);
    await settle();
    assert.equal(rig.messages().length, 2);
    const [twin, message] = rig.messages();
    await rig.press(ANN, twin!, 'Deny');
    assert.equal((await workspace.commands()).length, 1);
    await settle();
    assert.deepEqual([labelsOf(twin!), labelsOf(message!)], [[], []], 'both messages are updated');
    assert.equal(twin!.text, message!.text);
  });

  it('a message is given up after a day of tries, and time without tries is not counted', async () => {
    const { workspace, telegram, settle, server, messages } = await openRig(start);
    telegram.fail('sendMessage', { code: 500, description: 'Internal Server Error' }, Infinity);
    await workspace.tell([{ event: 'failed' }]);
    await settle();
    server.clock.advance(3 * 24 * 3600_000);
    await settle();
    telegram.fail('sendMessage', { code: 500, description: '' }, 0);
    server.clock.advance(3600_000);
    await settle();
    assert.equal(messages().length, 1);
    telegram.fail('sendMessage', { code: 500, description: 'Internal Server Error' }, Infinity);
    await workspace.tell([{ event: 'failed' }]);
    for (let passed = 0; passed < 26; passed += 1) {
      await settle();
      server.clock.advance(3600_000);
    }
    telegram.fail('sendMessage', { code: 500, description: '' }, 0);
    await settle();
    assert.equal(messages().length, 1);
  });

  it('messages from a clock that was ahead suppress nothing after it was set back', async () => {
    const { workspace, settle, server, messages } = await openRig(start);
    const now = server.clock.now();
    server.clock.set(now + 3 * 24 * 3600_000);
    for (let at = 0; at < 7; at += 1) {
      await workspace.tell([{ event: 'sealed' }]);
      await settle();
    }
    const before = messages().length;
    server.clock.set(now);
    await workspace.tell([{ event: 'failed' }]);
    await settle();
    assert.equal(messages().length, before + 1);
    assert.match(messages().at(-1)!.text, /^Failed: /);
  });

  it('the bot is silent while the plan has no assistant', async () => {
    const { workspace, settle, server, ann, messages, press, ask } = await openRig(start);
    await workspace.waits([{}]);
    await workspace.tell([APPROVAL]);
    await settle();
    const [message] = messages();
    const { plans, people } = server.parts;
    const [home] = await people.listAccounts();
    await plans.assign(home!, 'free', 'a test');
    const { length: before } = messages();
    await workspace.tell([{ event: 'failed' }]);
    await settle();
    assert.equal(messages().length, before);
    assert.match((await ann.get('/app/chats')).text, /Locked: the plan free has no assistant/);
    assert.match(await press(ANN, message!, 'Approve'), /has no assistant/);
    for (const word of ['waiting', 'status', 'mute 2h'])
      assert.match(await ask(ANN, word), /^The plan free has no assistant/, word);
    assert.deepEqual(await workspace.commands(), []);
    await plans.assign(home!, 'team', 'a test');
    await settle();
    assert.equal(messages().length, before, 'events from the pause are not reported late');
  });

  it('the bot says how many decisions wait beyond the listed ones', async () => {
    const { workspace, ask } = await openRig(start);
    const listed = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ decision_id: `d-${index + 1}` }));
    const readAnswer = async (count: number, more: number): Promise<string[]> => {
      await workspace.waits(listed(count), undefined, more);
      return (await ask(ANN, 'waiting')).split('\n').map((line) => line.replace(/ (?:in|at|see) .*/, ''));
    };
    assert.deepEqual(await readAnswer(2, 3), ['d-1', 'd-2', '3 more']);
    assert.deepEqual(await readAnswer(2, 0), ['d-1', 'd-2']);
    assert.equal((await readAnswer(12, 3)).at(-1), '5 more');
    assert.deepEqual(await readAnswer(0, 3), ['3 decisions wait:']);
  });

  it('the bot accepts its commands from connected people', async () => {
    const { workspace, ask, settle, server, messages, telegram } = await openRig(start);
    await workspace.waits([{ title: 'Repair [this](https://evil.example) @everyone' }]);
    assert.match(await ask(STRANGER, 'waiting'), /^You are not connected/);
    assert.match(await ask(ANN, 'waiting'), /^d-17 in web-shop, since 03:04 UTC: Repair \[this\]/);
    assert.match(
      await ask(ANN, '/status'),
      /1 workspace:\nweb-shop: .*\n1 decision waits\.\nEvents sent here: needs approval/,
    );
    assert.match(await ask(ANN, '/help'), /mute 2h/);
    assert.match(await ask(ANN, 'sudo'), /^I know these commands/);
    assert.match(await ask(ANN, 'mute forever'), /For how long/);
    assert.match(await ask(ANN, 'mute 2h'), /^No new events are sent here until 2026-01-02 05:04 UTC/);
    await workspace.tell([APPROVAL]);
    await settle();
    assert.deepEqual(messages(), []);
    server.clock.advance(2 * 3600_000 + 1);
    await workspace.tell([{ event: 'failed' }]);
    await settle();
    assert.equal(messages().length, 1);
    assert.ok(
      telegram.messages.every(
        ({ found, hasPreview, hasParseMode }) => found.length === 0 && !hasPreview && !hasParseMode,
      ),
      JSON.stringify(telegram.messages.filter(({ found }) => found.length > 0)),
    );
  });
});
