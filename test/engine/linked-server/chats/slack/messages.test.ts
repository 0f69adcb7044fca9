import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type ChatButton, ChatSendError } from '../../../../../engine/linked-server/chats/service.ts';
import { type MethodFault, showButtons, showText } from '../../../../../fixtures/slack/slack.ts';
import { type SlackRig, startSlackRig } from './rig.ts';

let rig: SlackRig;
before(async () => {
  rig = await startSlackRig();
});
after(() => rig.close());
beforeEach(() => {
  rig.slack.messages.length = 0;
});

const line = (text: string, isOutside = true) => [{ text, isOutside }];
const newest = () => rig.slack.messages.at(-1)!;

describe('a message to Slack', () => {
  it('a message is plain text with its buttons in a row, and loses them when it is edited', async () => {
    const buttons: ChatButton[] = [
      { label: 'Approve', ticket: 't'.repeat(64), style: 'good' },
      { label: 'Deny', ticket: 'deny', style: 'bad' },
      { label: 'Open', url: 'https://svc.example.org/app/decisions/w_1/d-17' },
    ];
    const id = await rig.service.send('C1', {
      lines: [[...line('Needs approval: ', false), ...line('Mend the till')], line('d-17 3f2a9c01')],
      buttons,
    });
    const posted = newest();
    assert.equal(showText(posted), 'Needs approval: Mend the till\nd-17 3f2a9c01');
    assert.equal(posted.text, 'Needs approval: Mend the till\nd-17 3f2a9c01');
    assert.deepEqual(showButtons(posted), ['Approve', 'Deny', 'Open']);
    const elements = posted.blocks.at(-1)!.elements!;
    assert.deepEqual(
      elements.map(({ value, url, style }) => [value, url, style]),
      [
        ['t'.repeat(64), undefined, 'primary'],
        ['deny', undefined, 'danger'],
        [undefined, 'https://svc.example.org/app/decisions/w_1/d-17', undefined],
      ],
    );
    await rig.service.edit('C1', id, { lines: [line('Denied by bob', false)], buttons: [] });
    assert.equal(rig.slack.messages.length, 1);
    assert.equal(showText(posted), 'Denied by bob');
    assert.deepEqual(showButtons(posted), []);
    assert.equal(posted.edits, 1);
  });

  const HOSTILE = [
    '<!channel> <!here> <!everyone> <!subteam^S1>',
    '<@U1> <@U1|ann> <#C1|general>',
    '<https://thief.example|Approve here>',
    'https://thief.example/%F0%9F%98%80 www.thief.example mail@thief.example',
    '*bold* _slanted_ ~struck~ `code` ```block``` > quote',
    ':rotating_light: :+1:',
    '&lt;!channel&gt; &amp;lt;',
    '@channel @here @ann #general',
    '<script>alert(1)</script> [x](https://thief.example) {{x}}',
    '<!date^1392734382^{date}^https://thief.example|now>',
  ];
  for (const text of HOSTILE)
    it(`a message shows ${JSON.stringify(text)} literally`, async () => {
      const id = await rig.service.send('C1', { lines: [line(text)], buttons: [] });
      for (const edit of [false, true]) {
        if (edit) await rig.service.edit('C1', id, { lines: [line(text)], buttons: [] });
        const posted = newest();
        assert.equal(showText(posted), text);
        assert.deepEqual(
          posted.blocks.map((block) => [block.text?.type, block.text?.emoji]),
          [['plain_text', false]],
        );
        assert.deepEqual(posted.markup, []);
        assert.doesNotMatch(posted.text, /[<>]/);
        assert.equal(posted.unfurls, false);
      }
      const { arguments: given } = rig.slack.called.findLast(({ method }) => method === 'chat.postMessage')!;
      assert.deepEqual(
        [given.mrkdwn, given.parse, given.link_names, given.unfurl_links, given.unfurl_media],
        ['false', 'none', 'false', 'false', 'false'],
      );
    });

  it('a message writes out direction marks and half characters of others, and has none of their line breaks', async () => {
    await rig.service.send('C1', {
      lines: [line('a\u202egnp.exe\u2066\u200fb\nApproved by ann\u0007 \ud83d'), line('next', false)],
      buttons: [],
    });
    assert.equal(showText(newest()), 'a\\u202egnp.exe\\u2066\\u200fb Approved by ann\\x07 \\ud83d\nnext');
  });

  it("a message keeps Slack's limits, however long its parts are", async () => {
    const long = `${'🙂'.repeat(2000)}<<<&&&`;
    await rig.service.send('C1', {
      lines: [line('first'), line(long), line('&'.repeat(2999)), line('last')],
      buttons: Array.from({ length: 7 }, (_, at) => ({
        label: `${at} ${'🙂'.repeat(60)}`,
        ticket: `${at}`,
        style: 'plain' as const,
      })),
    });
    const posted = newest();
    const shown = showText(posted);
    assert.ok(shown.startsWith('first\n🙂') && shown.endsWith('\nlast'), shown.slice(-100));
    assert.ok(shown.isWellFormed());
    assert.match(shown, /🙂…/);
    assert.ok(posted.text.length <= 3000, `${posted.text.length} characters`);
    assert.doesNotMatch(posted.text, /&(?!amp;|lt;|gt;)/);
    const labels = showButtons(posted) as string[];
    assert.equal(labels.length, 7);
    assert.ok(labels.every((label) => label.isWellFormed()));
  });

  it('a message with too many lines is shortened to the limit', async () => {
    const lines = Array.from({ length: 400 }, (_, at) => line(`${at} ${'x'.repeat(200)}`));
    await rig.service.send('C1', { lines, buttons: [] });
    assert.match(showText(newest()), /^0 x+\n1 x+\n[\s\S]*\n…$/);
  });

  const PROBLEMS: [MethodFault, string, number | null][] = [
    [{ status: 429, retryAfterSec: 7 }, 'later', 7000],
    [{ status: 429, retryAfterSec: 999_999 }, 'later', 3_600_000],
    [{ error: 'ratelimited' }, 'later', 30_000],
    [{ status: 500 }, 'later', null],
    [{ status: 503 }, 'later', null],
    [{ error: 'internal_error' }, 'later', null],
    [{ error: 'something_new' }, 'later', null],
    [{ error: 'constructor' }, 'later', null],
    [{ error: 'msg_too_long' }, 'refused', null],
    [{ error: 'invalid_auth' }, 'refused', null],
    [{ error: 'account_inactive' }, 'refused', null],
    [{ error: 'token_revoked' }, 'refused', null],
    [{ error: 'missing_scope' }, 'refused', null],
    [{ error: 'channel_not_found' }, 'gone', null],
    [{ error: 'not_in_channel' }, 'gone', null],
    [{ error: 'is_archived' }, 'gone', null],
    [{ error: 'message_not_found' }, 'gone', null],
    [{ error: 'cant_update_message' }, 'gone', null],
    ['reset_before', 'later', null],
    ['reset_after', 'later', null],
    ['redirect', 'later', null],
    ['html', 'later', null],
    ['flood', 'later', null],
  ];
  for (const [fault, problem, retryAfterMs] of PROBLEMS)
    it(`the answer ${JSON.stringify(fault)} to a message means ${problem}`, async () => {
      rig.slack.failNext('chat.postMessage', fault);
      const error = await rig.post().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof ChatSendError);
      assert.equal(error.problem, problem);
      assert.equal(error.retryAfterMs, retryAfterMs);
      assert.doesNotMatch(error.message, /something_new|xoxb|proxy says/);
    });

  it('a message is sent to Slack only, with any answer', () => {
    assert.deepEqual(
      rig.slack.called.filter(({ method }) => method === 'thief'),
      [],
    );
  });

  it('a message is gone where the channel is archived, the bot was removed or the message deleted', async () => {
    const posted = await rig.post();
    const edit = () => rig.service.edit('C1', posted.ts, { lines: [line('x')], buttons: [] });
    const channel = rig.slack.channels.get('C1')!;
    channel.isArchived = true;
    await assert.rejects(edit(), { problem: 'gone', message: 'the channel is archived' });
    channel.isArchived = false;
    channel.hasBot = false;
    await assert.rejects(edit(), { problem: 'gone' });
    channel.hasBot = true;
    rig.slack.messages.length = 0;
    await assert.rejects(edit(), { problem: 'gone', message: 'the message was deleted' });
  });
});
