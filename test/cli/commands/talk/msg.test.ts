import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { report } from '../../../support/processes/faults.ts';
import { until } from '../../../support/wait.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('svc msg', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace({ yaml: 'projects: [{ id: shop, path: shop }]\n' });
  });
  after(() => ws.close());

  const as = (session: string) => ({ env: { SVC_SESSION: session } });
  const noticeOf = (session: string): string => {
    const file = join(ws.root, '.svc/notices', `${session}.md`);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };

  test('svc msg sends, reads, acknowledges and lists between two sessions', async () => {
    const sent = await ws.svc(
      ['msg', 'send', 'which port?', '--to-session', 'bob', '-k', 'alert'],
      as('alice'),
    );
    assert.deepEqual([sent.code, sent.stdout], [0, 'message 1 to bob\n']);
    assert.match(sent.stderr, /no one with that name/);
    const read = await ws.svc(['msg', 'inbox'], as('bob'));
    assert.match(
      read.stdout,
      /^bob: 1 unread, 0 read\n\n1 alert, from alice to bob, \d+s ago\n {2}which port\?\n/,
    );
    const reply = await ws.svc(['msg', 'send', '8080', '--reply-to', '1'], as('bob'));
    assert.equal(reply.stdout, 'message 2 to alice\n');
    assert.equal((await ws.svc(['msg', 'ack', '1'], as('alice'))).code, 3);
    assert.match((await ws.svc(['msg', 'ack', '1'], as('bob'))).stdout, /message 1 acknowledged by bob/);
    assert.match((await ws.svc(['msg', 'inbox'], as('bob'))).stdout, /^bob: 0 unread, 1 read\n$/);
    assert.match((await ws.svc(['msg', 'inbox', '--all'], as('bob'))).stdout, /1 alert \(read\), from alice/);
    const listed = (await ws.svc(['msg', 'list'])).stdout.trim().split('\n');
    assert.match(listed[1] ?? '', /^1\talert\talice\tbob\t\d+s\tbob\tdelivered\twhich port\?$/);
    assert.match((await ws.svc(['msg', 'peers'])).stdout, /^bob\tplain\t/m);
  });

  test('the text may come from standard input, and every kind of recipient is accepted', async () => {
    writeFileSync(join(ws.root, 'notes.md'), 'x');
    const piped = await ws.svc(
      ['msg', 'send', '-', '--to-project', 'shop', '--payload', 'notes.md', '--json'],
      {
        input: 'from a pipe\n',
      },
    );
    const { messages } = piped.json<{ messages: { id: number; to_session: string }[] }>();
    assert.equal(messages[0]?.to_session, 'chair@shop');
    const inbox = (await ws.svc(['msg', 'inbox', 'chair@shop', '--json'])).json<{
      messages: { body: string; payload_path: string }[];
    }>();
    assert.deepEqual(
      [inbox.messages[0]?.body, inbox.messages[0]?.payload_path],
      ['from a pipe\n', 'notes.md'],
    );
    assert.equal((await ws.svc(['msg', 'send', 'x', '--to-agent', 'claude'])).code, 0);
    assert.equal((await ws.svc(['msg', 'send', 'x', '--to-worker', 'w-1'])).code, 0);
    assert.equal(
      (await ws.svc(['msg', 'send', 'x', '--to-role', 'parent'], as('alice'))).stdout,
      'message 6 to chair\n',
    );
  });

  test('svc msg fails with the code of the error', async () => {
    assert.equal((await ws.svc(['msg', 'send', 'x'])).code, 2);
    assert.equal((await ws.svc(['msg', 'send', 'x', '--to-project', 'nope'])).code, 2);
    assert.equal((await ws.svc(['msg', 'send', 'x', '--to-session', '../x'])).code, 2);
    assert.equal((await ws.svc(['msg', 'ack', '999'])).code, 4);
    assert.equal((await ws.svc(['msg', 'ack', 'nonsense'])).code, 4);
    assert.equal((await ws.svc(['msg', 'list'], as('bob'))).code, 3);
  });

  test('an acknowledged message has its notice exactly once after kill -9 of the engine', async () => {
    for (let round = 0; round < 5; round += 1) {
      const client = await ws.connect();
      const to = `survivor-${round}`;
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, number) =>
          client.run('msg.send', { body: `number ${number}`, to_session: to }, { key: `${to}-${number}` }),
        ),
      );
      await ws.killDaemon();
      const ids = answers.map(({ messages }) => messages[0]?.id);
      await ws.connect();
      await until(() => ids.every((id) => noticeOf(to).includes(`## Message ${id} (`)), 'the notices');
      assert.equal(noticeOf(to).match(/^## Message/gm)?.length, 30);
    }
    report(
      'kill -9 of the daemon right after thirty messages were acknowledged, five times',
      'every notice was written, none twice',
    );
  });

  test('showing a handoff reads it; a note is read when it is acknowledged', async () => {
    for (const kind of ['handoff', 'note'])
      await ws.svc(['msg', 'send', `a ${kind}`, '-t', 'dora', '-k', kind], as('alice'));
    assert.match(
      (await ws.svc(['msg', 'inbox', 'dora'])).stdout,
      /^dora: 2 unread/,
      'reading as another session changes nothing',
    );
    assert.match((await ws.svc(['msg', 'inbox', 'dora'])).stdout, /^dora: 2 unread/);
    assert.match((await ws.svc(['msg', 'inbox'], as('dora'))).stdout, /a handoff[\s\S]*a note/);
    assert.match((await ws.svc(['msg', 'inbox'], as('dora'))).stdout, /^dora: 1 unread, 1 read/);
    const sent = await ws.svc(['msg', 'send', 'done', '-t', 'chair', '-k', 'handoff', '--json'], as('alice'));
    const [{ id } = { id: 0 }] = sent.json<{ messages: { id: number }[] }>().messages;
    assert.match((await ws.svc(['msg', 'show', String(id)])).stdout, /done/);
    assert.doesNotMatch((await ws.svc(['msg', 'list', '--unread'])).stdout, new RegExp(`^${id}\t`, 'm'));
  });
});
