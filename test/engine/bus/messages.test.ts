import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createMessages } from '../../../engine/bus/messages/index.ts';
import type { Caller } from '../../../engine/core/api/operation.ts';
import { createPeers } from '../../../engine/workers/sessions/peers.ts';
import { createSeats } from '../../../engine/workers/sessions/seats/index.ts';
import { fakeClock } from '../../support/clock.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';
import { openSpine } from '../../support/workspaces/spine.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';
import { dispatched, type Inbox, join, type Sent, worker } from './rig.ts';

describe('messages', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  before(async () => {
    ws = await makeWorkspace({ yaml: 'projects: [{ id: shop, path: shop }]\n' });
    here = await engineHere(ws, { workerCap: 0 });
  });
  after(async () => {
    await here?.close();
    await ws.close();
  });

  const send = (input: object, caller: Partial<Caller> = {}, key: string | null = null): Promise<Sent> => {
    const person: Caller = {
      seat: 'chair',
      actor: 'ada',
      via: 'tool',
      sessionId: null,
      project: null,
      env: {},
    };
    const from = { ...person, ...caller };
    return here.engine.operations.call('msg.send', { body: 'hello', ...input }, from, {
      key,
    }) as Promise<Sent>;
  };
  const inbox = (input: object, caller: Partial<Caller> = {}): Promise<Inbox> =>
    here.call('msg.inbox', input, caller);
  const idOf = async (sent: Promise<Sent>): Promise<number> => (await sent).messages[0]?.id ?? 0;
  const events = (kind: string) =>
    here.engine.events.listEvents({ limit: 500 }).filter((each) => each.kind === kind);

  test('messages reach their session, oldest unread first, then newest read', async () => {
    const session = await dispatched(here);
    const ids = [];
    for (const body of ['one', 'two', 'three', 'four'])
      ids.push(await idOf(send({ to_session: session, body })));
    await here.call('msg.ack', { id: ids[0] ?? assert.fail() }, worker(session));
    await here.call('msg.ack', { id: ids[1] ?? assert.fail() }, worker(session));
    const waiting = await inbox({}, worker(session));
    assert.deepEqual(
      [waiting.messages.map(({ body }) => body), waiting.unread, waiting.read],
      [['three', 'four'], 2, 2],
    );
    const read = await inbox({ unread: false }, worker(session));
    assert.deepEqual([read.session, read.unread], [session, 2]);
    assert.deepEqual(
      read.messages.map(({ body }) => body),
      ['four', 'three', 'two', 'one'],
    );
    const unread = await inbox({ unread: true, limit: 1 }, worker(session));
    assert.deepEqual([unread.messages.map(({ body }) => body), unread.unread], [['three'], 2]);
  });

  test('messages carry their author: a worker always as itself, and only the Chair as another', async () => {
    const [session, other] = [await dispatched(here), await dispatched(here)];
    const claims = { from_agent: 'codex', name: 'the person' };
    const own = here.engine.resolveSession(session);
    const wears = worker(session, { SVC_AGENT: 'codex', SVC_NAME: 'bob' });
    for (const [input, caller] of [
      [{}, wears],
      [claims, worker(session)],
      [claims, wears],
      [{ from_agent: '', name: ' chair ' }, wears],
    ] as const)
      await send({ to_session: other, ...input }, caller);
    const rows = (await inbox({}, worker(other))).messages as unknown as Record<string, unknown>[];
    for (const row of rows)
      assert.deepEqual([row.from_session, row.from_agent, row.name], [session, 'scripted', own.workerId]);
    await assert.rejects(send({ to_session: other, from_session: other }, worker(session)), {
      code: 'holder_mismatch',
    });
    await send({ to_session: other, from_session: session, ...claims });
    const last = (await inbox({}, worker(other))).messages.at(-1) as unknown as Record<string, unknown>;
    assert.deepEqual([last.from_session, last.from_agent, last.name], [session, 'codex', 'the person']);
  });

  test('messages need exactly one kind of recipient, and a missing one is named', async () => {
    await assert.rejects(send({}), { code: 'fields_invalid', message: /to_session, to_agent, to_worker/ });
    await assert.rejects(send({ to_session: 's-1', to_agent: 'claude' }), {
      code: 'fields_invalid',
      message: /not to_session and to_agent/,
    });
    // Agents write an empty text for "not given".
    assert.equal(
      (await send({ to_session: 'chair', to_agent: '', to_worker: '' })).messages[0]?.to_session,
      'chair',
    );
    await assert.rejects(send({ to_role: 'cousin' }), { code: 'fields_invalid' });
    await assert.rejects(send({ to_session: 'chair', body: '' }), { code: 'fields_invalid' });
  });

  test('messages to an unknown session are kept for it, with known: false', async () => {
    const { known, messages } = await send({ to_session: 'later' });
    assert.equal(known, false);
    const later = await join(here, { name: 'later' });
    assert.deepEqual(
      (await inbox({}, later.caller)).messages.map(({ id }) => id),
      messages.map(({ id }) => id),
    );
    assert.equal((await send({ to_session: 'later' })).known, true);
    assert.equal((await send({ to_worker: 'w-4711' })).known, false);
    assert.equal((await send({ to_agent: 'claud' })).known, false);
    assert.equal((await send({ to_agent: 'claude' })).known, true);
  });

  test('messages to an impossible session are refused', async () => {
    for (const to of ['../../etc/passwd', 's-0', 'chair-0', 'a b', '.', `${'x'.repeat(65)}`, 'a/b', 'ä']) {
      await assert.rejects(send({ to_session: to }), { code: 'fields_invalid' }, to);
    }
    await assert.rejects(send({ to_session: 'chair@nope' }), { code: 'unknown_project' });
    await assert.rejects(send({ to_project: 'nope' }), { code: 'unknown_project' });
  });

  test('messages to a project reach its Chair, now or later', async () => {
    assert.equal(
      (await send({ to_project: 'shop', body: 'for the shop' })).messages[0]?.to_session,
      'chair@shop',
    );
    assert.equal((await send({ to_project: 'workspace' })).messages[0]?.to_session, 'chair');
    const chair = await join(here, { project: 'shop' });
    const { messages, session } = await inbox({}, chair.caller);
    assert.deepEqual([session, messages.map(({ body }) => body)], [chair.id, ['for the shop']]);
    const person = await inbox({}, { seat: 'chair', project: 'shop' });
    assert.deepEqual([person.session, person.messages.length], ['chair@shop', 1]);
    await here.call('msg.ack', { id: messages[0]?.id ?? assert.fail() }, chair.caller);
    assert.equal((await inbox({ unread: true }, { project: 'shop' })).unread, 0);
  });

  test('messages to a worker follow it over its sessions', async () => {
    const first = await dispatched(here, { name: 'carol' });
    const id = await idOf(send({ to_worker: 'carol' }));
    assert.deepEqual(
      (await inbox({}, worker(first))).messages.map((each) => each.id),
      [id],
    );
    const second = await dispatched(here, { name: 'carol' });
    assert.deepEqual(
      (await inbox({}, worker(second))).messages.map((each) => each.id),
      [id],
    );
    const { peers } = await here.call('msg.peers', {
      to_worker: 'carol',
    });
    assert.deepEqual(
      peers.map(({ session_id, state }) => [session_id, state]),
      [[second, 'live']],
    );
  });

  test('messages to an agent are taken by the first of its sessions; of twenty takers one wins', async () => {
    const takers = [];
    for (let count = 0; count < 20; count += 1) {
      takers.push(await join(here, { name: `taker-${count}`, agent: 'kimi' }));
    }
    const id = await idOf(send({ to_agent: 'kimi' }));
    assert.equal((await inbox({ unread: true }, takers[7]?.caller)).unread, 1);
    const results = await Promise.allSettled(
      takers.map(({ caller }) => here.call('msg.ack', { id }, caller)),
    );
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const result of results) {
      if (result.status === 'rejected') {
        assert.equal(result.reason.code, 'conflict');
        assert.match(result.reason.message, /already acknowledged by taker-\d+/);
      }
    }
    const held = await Promise.all(
      takers.map(async ({ caller }) => (await inbox({ unread: false }, caller)).messages.length),
    );
    assert.equal(held.filter((count) => count === 1).length, 1);
    assert.equal(events('message_acked').filter(({ data }) => data.messageId === id).length, 1);
  });

  test('messages are acknowledged by their recipient only; a second time returns the same answer', async () => {
    const [session, other] = [await dispatched(here), await dispatched(here)];
    const id = await idOf(send({ to_session: session }));
    await assert.rejects(here.call('msg.ack', { id }, worker(other)), {
      code: 'holder_mismatch',
      message: new RegExp(`is addressed to ${session}, not to ${other}`),
    });
    await assert.rejects(here.call('msg.ack', { id, session }, worker(other)), { code: 'holder_mismatch' });
    await assert.rejects(here.call('msg.ack', { id, agent: 'claude' }, worker(session)), {
      code: 'holder_mismatch',
    });
    const first = await here.call('msg.ack', { id }, worker(session));
    assert.deepEqual(await here.call('msg.ack', { id }, worker(session)), first);
    assert.deepEqual(await here.call('msg.ack', { id, session }), first, 'a Chair may act for others');
    await assert.rejects(here.call('msg.ack', { id: 999_999 }), { code: 'not_found' });
  });

  test('any message can be acknowledged by the person at the dashboard, under their name', async () => {
    const session = await dispatched(here);
    const id = await idOf(send({ to_session: session }));
    const acked = await here.call('msg.ack', { id, as_person: true });
    assert.equal(acked.acked_by, 'ada');
    await assert.rejects(here.call('msg.ack', { id }, worker(session)), {
      code: 'conflict',
      message: /by ada/,
    });
    await assert.rejects(here.call('msg.ack', { id, as_person: true }, worker(session)), {
      code: 'chair_only',
    });
  });

  test('messages with a role reach the family of the sender', async () => {
    const chair = await join(here);
    const [one, two] = [await dispatched(here), await dispatched(here)];
    const roster = await here.call('msg.roster', { session: one });
    assert.ok(['chair', chair.id].includes(roster.parent?.session_id ?? ''));
    assert.ok(roster.siblings.some((each) => each.session_id === two));
    assert.ok(
      roster.siblings.every((each) => each.session_id !== one && !each.session_id.startsWith('chair')),
    );
    assert.equal((await send({ to_role: 'parent' }, worker(one))).messages[0]?.to_session, 'chair');
    const siblings = await send({ to_role: 'sibling' }, worker(one));
    assert.deepEqual(
      siblings.messages.map(({ to_session: to }) => to),
      roster.siblings.map((each) => each.session_id),
    );
    const children = await send({ to_role: 'child' }, chair.caller);
    for (const each of [one, two]) assert.ok(children.messages.some(({ to_session: to }) => to === each));
    await assert.rejects(send({ to_role: 'child' }, worker(one)), {
      code: 'not_found',
      message: /live child/,
    });
    await assert.rejects(send({ to_role: 'parent' }, chair.caller), { code: 'not_found' });
    await assert.rejects(here.call('msg.roster', { session: 's-99999' }), { code: 'not_found' });
  });

  test('a reply goes to the sender of its message', async () => {
    const [session, other] = [await dispatched(here), await dispatched(here)];
    const id = await idOf(send({ to_session: other }, worker(session)));
    const reply = await send({ parent_id: id, body: 'yes' }, worker(other));
    assert.equal(reply.messages[0]?.to_session, session);
    assert.equal((await inbox({}, worker(session))).messages[0]?.parent_id, id);
    // A person at the command line has no session; answers go to the Chair's seat.
    const ofPerson = await idOf(send({ to_session: other }));
    assert.equal((await send({ parent_id: ofPerson }, worker(other))).messages[0]?.to_session, 'chair');
    await assert.rejects(send({ parent_id: 999_999, to_session: 'chair' }), { code: 'not_found' });
  });

  test('messages may name a file of the workspace, and no other', async () => {
    writeFileSync(joinPath(ws.root, 'report.md'), 'x');
    const session = await dispatched(here);
    await send({ to_session: session, payload_path: './report.md' });
    assert.equal((await inbox({}, worker(session))).messages[0]?.payload_path, 'report.md');
    await assert.rejects(send({ to_session: session, payload_path: '/etc/passwd' }), {
      code: 'path_outside',
    });
    await assert.rejects(send({ to_session: session, payload_path: '../x' }), { code: 'path_outside' });
    await assert.rejects(send({ to_session: session, payload_path: 'missing.md' }), { code: 'not_found' });
    await assert.rejects(send({ to_session: session, payload_path: '.' }), { code: 'not_found' });
  });

  test('messages have at most 256 KiB', async () => {
    const most = 'ä'.repeat(128 * 1024);
    await send({ to_session: 'big', body: most });
    assert.equal((await inbox({ session: 'big' })).messages[0]?.body, most);
    await assert.rejects(send({ to_session: 'big', body: `${most}.` }), { code: 'body_too_large' });
    // An answer ends before it becomes too long to read, and counts the messages that it leaves out.
    for (let count = 0; count < 9; count += 1)
      await send({ to_session: 'big', body: 'x'.repeat(256 * 1024) });
    const read = await inbox({ session: 'big' });
    assert.equal(read.unread, 10);
    assert.ok(read.messages.length < 10 && read.messages.length > 1);
  });

  test('a message that is repeated under the same key is the same message, even at the same moment', async () => {
    const session = await dispatched(here);
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => send({ to_session: session, body: 'once' }, {}, key)),
    );
    const later = await send({ to_session: session, body: 'once' }, {}, key);
    for (const each of answers) assert.deepEqual(each.messages, later.messages);
    assert.equal((await inbox({}, worker(session))).messages.length, 1);
    const roles = randomUUID();
    const family = await send({ to_role: 'sibling' }, worker(session), roles);
    assert.deepEqual((await send({ to_role: 'sibling' }, worker(session), roles)).messages, family.messages);
  });

  test('messages of twenty senders at once all arrive, each once, in the order of each sender', async () => {
    const to = await dispatched(here);
    const senders = [];
    for (let count = 0; count < 20; count += 1) senders.push(await join(here, { name: `sender-${count}` }));
    await Promise.all(
      senders.map(async ({ caller }) => {
        for (let number = 0; number < 10; number += 1) {
          await send({ to_session: to, body: String(number) }, caller, randomUUID());
        }
      }),
    );
    const { messages, unread } = await inbox({ limit: 500 }, worker(to));
    assert.equal(unread, 200);
    assert.ok(messages.length > 1);
    assert.ok(messages.every(({ id }, index) => index === 0 || id > (messages[index - 1]?.id ?? 0)));
    for (const { id } of senders) {
      const bodies = messages.filter(({ from_session: from }) => from === id).map(({ body }) => body);
      assert.deepEqual(bodies, ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    }
  });

  test('messages are events without their body; an alert is sent under the name of its author', async () => {
    const session = await dispatched(here);
    const id = await idOf(
      send({ to_project: 'shop', kind: 'alert', body: 'the secret is 42' }, worker(session)),
    );
    const sent = events('message_sent').find(({ data }) => data.messageId === id);
    assert.deepEqual(sent?.data, {
      messageId: id,
      kind: 'alert',
      from: session,
      to: 'chair@shop',
      toKind: 'session',
    });
    assert.equal(sent?.sessionId, session);
    const alert = events('alert').find(({ data }) => data.messageId === id);
    assert.equal(alert?.data.title, `alert from ${session}`);
    assert.doesNotMatch(JSON.stringify(here.engine.events.listEvents({ limit: 500 })), /the secret/);
    await here.close();
    here = await engineHere(ws, { workerCap: 0 });
    const { messages } = await here.call('msg.stale', { older_min: 0 });
    assert.ok(messages.some((each) => each.id === id));
    assert.deepEqual((await here.call('msg.stale')).messages, []);
  });

  test('messages are counted and listed for the dashboard, newest first', async () => {
    const before_ = await here.call('msg.counts');
    const first = await idOf(send({ to_session: 'chair', kind: 'alert' }));
    const second = await idOf(send({ to_session: 'chair@shop' }));
    const third = await idOf(send({ to_session: 'somebody' }));
    const counts = await here.call('msg.counts');
    assert.deepEqual(counts, { unread: before_.unread + 2, alerts: before_.alerts + 1 });
    const list = async (input: object) => (await here.call('msg.list', input)).map((each) => each.id);
    assert.deepEqual(await list({ limit: 2 }), [third, second]);
    assert.deepEqual(await list({ cursor: String(third), limit: 2 }), [second, first]);
    assert.deepEqual(await list({ ids: [first, third, 999_999] }), [third, first]);
    await here.call('msg.ack', { id: second, as_person: true });
    assert.deepEqual(await list({ unread: true, limit: 2 }), [third, first]);
    await assert.rejects(here.call('msg.list', {}, worker('s-1')), { code: 'chair_only' });
  });

  test('a hook shows a message once; a damaged record only shows it again', async () => {
    const session = await dispatched(here);
    const surface = async (caller: Partial<Caller> = worker(session)) =>
      (await here.call('msg.surface', {}, caller)).map((each) => each.id);
    const first = await idOf(send({ to_session: session }));
    assert.deepEqual(await surface(), [first]);
    assert.deepEqual(await surface(), []);
    const second = await idOf(send({ to_session: session }));
    assert.deepEqual(await surface(), [second]);
    const file = joinPath(ws.root, '.svc/notices/surfaced', `${session}.ids`);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.match(readFileSync(file, 'utf8'), new RegExp(`^${second}$`, 'm'));
    writeFileSync(file, '\0\0nonsense');
    assert.deepEqual(await surface(), [first, second]);
    assert.deepEqual(await surface(), []);
    await assert.rejects(here.call('msg.surface', { session: 'chair' }, worker(session)), {
      code: 'holder_mismatch',
    });
    for (const hostile of ['../x', 'a/../../x']) {
      await assert.rejects(here.call('msg.surface', { session: hostile }), { code: 'fields_invalid' });
    }
    assert.equal(existsSync(joinPath(ws.root, '.svc/notices/x.ids')), false);
  });

  test('every caller that has or names a session has an inbox', async () => {
    await assert.rejects(inbox({}, { seat: 'plain', sessionId: null }), {
      code: 'fields_invalid',
      message: /SVC_SESSION|has none/,
    });
    assert.equal((await inbox({ agent: 'qwen' }, { seat: 'plain', sessionId: null })).session, null);
    await assert.rejects(inbox({ session: 'chair' }, worker(await dispatched(here))), {
      code: 'holder_mismatch',
    });
  });

  test('peers are listed: of the workspace, of a session, of a project', async () => {
    const chair = await join(here, { project: 'shop', agent: 'claude' });
    const plain = await join(here, { name: 'helper', project: 'shop', title: 'by hand' });
    const peers = async (input: object) =>
      (await here.call('msg.peers', input)).peers.map((each) => each.session_id);
    const shop = await peers({ to_project: 'shop' });
    assert.ok(shop.includes(chair.id) && shop.includes('helper'));
    assert.deepEqual(await peers({ session: plain.id }), shop);
    assert.ok((await peers({})).length > shop.length);
    await assert.rejects(peers({ session: 'nobody' }), { code: 'not_found' });
    await assert.rejects(peers({ to_project: 'nope' }), { code: 'unknown_project' });
    await assert.rejects(peers({ to_worker: 'nobody' }), { code: 'not_found' });
    const { peers: all } = await here.call('msg.peers');
    assert.ok(all.some((each) => each.session_id === chair.id && each.seat === 'chair'));
  });
});

test('mail to a Chair that left before reading it is for the next one of its seat', async () => {
  const folder = temporaryFolder();
  const clock = fakeClock();
  const { storage, events, sessions } = openSpine(joinPath(folder, 'svc.db'), clock);
  const seats = createSeats({ storage, events, clock, atClose: () => undefined });
  const peers = createPeers({ sessions, seats });
  const messages = createMessages({ storage, events, clock, peers, onPending: () => undefined });
  const seat = {
    kind: 'chair' as const,
    name: null,
    agent: null,
    title: null,
    notifyBase: null,
    process: null,
  };
  const by = { actor: null, via: 'engine' };
  const id = await storage.write(() => {
    for (const project of ['shop', 'shop', null]) seats.open({ ...seat, project });
    const to = [{ toSession: 'chair-1', toWorker: null, toAgent: null }];
    const none = { payloadPath: null, fromAgent: null, fromName: null, parentId: null, taskId: null };
    const text = { kind: 'note' as const, body: 'left behind', fromSession: 's-1', origin: null };
    return messages.send({ ...none, ...text }, to, by)[0]?.id ?? 0;
  });
  const sees = (session: string): boolean =>
    messages.inbox({ session, agent: null }, { limit: 10, unread: false }).rows.length > 0;
  const all = () => ['chair-1', 'chair-2', 'chair@shop', 'chair-3', 'chair'].filter(sees);
  assert.deepEqual(all(), ['chair-1']);
  await storage.write(() => seats.close('chair-1', 'gone'));
  assert.deepEqual(all(), ['chair-1', 'chair-2', 'chair@shop']);
  const ack = (session: string) => storage.write(() => messages.ack(id, { session, agent: null }, by));
  await assert.rejects(ack('chair-3'), { code: 'holder_mismatch' });
  await ack('chair-2');
  assert.equal((await ack('chair-2')).acked_by, 'chair-2', 'a repeated ack returns the same answer');
  storage.close();
  rmSync(folder, { recursive: true });
});
