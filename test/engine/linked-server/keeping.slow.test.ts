import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import { askRunningServer, importServer, rotateServerKey } from '../../../engine/linked-server/index.ts';
import {
  type Browser,
  onBothDatabases,
  signIn,
  startTestServer,
  type TestServer,
} from '../../support/server/linked-server.ts';
import { until } from '../../support/wait.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';
import { ANN, chatRig } from './chats/rig.ts';
import { type DeliveryRig, deliveryRig } from './deliveries/rig.ts';

const rigs: DeliveryRig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});
async function openRig(start: typeof startTestServer): Promise<DeliveryRig> {
  const rig = await deliveryRig(start);
  rigs.push(rig);
  return rig;
}

const DAY = 24 * 3600_000;
const ALLOWED = { allowTarget: ['127.0.0.1/32'] };

/** Pages that show stored data. */
const readPages = async (browser: Browser, { url }: TestServer): Promise<string[]> =>
  Promise.all(
    ['/app', '/app/people', '/app/settings', '/app/deliveries', '/operator'].map(async (path) =>
      (await browser.get(path)).text.replaceAll(url, 'ORIGIN'),
    ),
  );

async function exportServer(server: TestServer): Promise<string> {
  const file = join(temporaryFolder(), 'export.jsonl');
  await askRunningServer(server.folder, 'export', { file });
  return file;
}

/** A folder for a new server with another server's key. */
function makeFolderWithKey(of: TestServer): string {
  const folder = temporaryFolder('server-');
  copyFileSync(join(of.folder, 'server.key'), join(folder, 'server.key'));
  return folder;
}

onBothDatabases((start, makeDatabase) => {
  it('an export fills an empty server of either kind with the same data, and back', async () => {
    const rig = await openRig(start);
    const hook = await rig.addTarget();
    await rig.queue([{ event: 'sealed' }]);
    await hook.atLeast(1);
    await rig.server.parts.deliveries.settled();
    const pages = await readPages(rig.ann, rig.server);
    const file = await exportServer(rig.server);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const text = readFileSync(file, 'utf8');
    for (const secret of [hook.secret, readFileSync(join(rig.server.folder, 'server.key'), 'utf8').trim()])
      assert.ok(!text.includes(secret));
    await assert.rejects(askRunningServer(rig.server.folder, 'export', { file }), { code: 'exists' });
    await rig.server.close();
    // From this database to SQLite, and from there back.
    let last = file;
    for (const make of [startTestServer, start]) {
      const folder = makeFolderWithKey(rig.server);
      const env = make === start ? await makeDatabase() : {};
      await importServer({ folder, env }, last);
      const again = await make({ folder, env, ...ALLOWED });
      try {
        last = await exportServer(again);
        const ann = await signIn(again, 'ann');
        assert.deepEqual(await readPages(ann, again), pages);
        const test = await ann.post(`/app/settings/targets/${hook.id}/test`);
        assert.match(test.text, /The test arrived/, 'its address and secret can still be decrypted');
      } finally {
        await again.close();
      }
    }
    await rig.close();
  });

  it('an import is complete or refused, with the right secret, into an empty database', async () => {
    const rig = await openRig(start);
    await rig.addTarget();
    const file = await exportServer(rig.server);
    await rig.close();
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const broken: [string[], string][] = [
      [lines.slice(0, -1), 'body_invalid'],
      [lines.toSpliced(4, 1), 'body_invalid'],
      [[...lines, lines.at(-1)!], 'body_invalid'],
      [lines.with(3, '{"table":"meta"'), 'body_invalid'],
      [lines.with(3, '{"table":"sqlite_master","row":{}}'), 'body_invalid'],
      [lines.with(3, '{"table":"accounts","row":{"id":"x","shoe_size":"44"}}'), 'body_invalid'],
      [lines.with(0, lines[0]!.replace(/"schema":\d+/, '"schema":99')), 'storage_newer'],
      [lines.slice(1), 'body_invalid'],
      // SQLite would store these, and the server would fail much later.
      [lines.map((line) => line.replace(/"created_at":\d+/, '"created_at":"soon"')), 'body_invalid'],
      [lines.map((line) => line.replace(/"created_at":\d+/, '"created_at":1.5')), 'body_invalid'],
      [lines.map((line) => line.replace(/"name":"[^"]*"/, '"name":7')), 'body_invalid'],
      [lines.map((line) => line.replace(/"name":"[^"]*"/, '"name":"a\\u0000b"')), 'body_invalid'],
      [lines.map((line) => line.replace(/"plan":"[^"]*",?/, '')), 'body_invalid'],
      [lines.map((line) => line.replace(/"value":"[0-9a-f]{64}"/, '"value":"00"')), 'body_invalid'],
      [[''], 'body_invalid'],
    ];
    const folder = makeFolderWithKey(rig.server);
    const env = await makeDatabase();
    const copy = join(temporaryFolder(), 'copy.jsonl');
    for (const [text, code] of broken) {
      writeFileSync(copy, `${text.join('\n')}\n`);
      await assert.rejects(importServer({ folder, env }, copy), { code }, text.join('\n').slice(0, 300));
    }
    await assert.rejects(importServer({ folder, env }, join(folder, 'nothing')), { code: 'storage_failed' });
    const bare = temporaryFolder('server-');
    await assert.rejects(importServer({ folder: bare, env }, file), { code: 'key_mismatch' });
    const otherKey = { ...env, SVC_LEASE_SECRET: 'o'.repeat(40) };
    await assert.rejects(importServer({ folder: bare, env: otherKey }, file), { code: 'key_mismatch' });
    await importServer({ folder, env }, file);
    await assert.rejects(importServer({ folder, env }, file), { code: 'conflict' });
  });

  it('a server with its own plan or bot is not empty, and the conflicting lines are named', async () => {
    const rig = await openRig(start);
    const file = await exportServer(rig.server);
    await rig.close();
    const env = await makeDatabase();
    const folder = makeFolderWithKey(rig.server);
    const copy = join(temporaryFolder(), 'copy.jsonl');
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const last = lines.findLastIndex((line) => line.includes('"table"'));
    writeFileSync(copy, `${lines.toSpliced(last, 0, lines[last]!).join('\n')}\n`);
    const place = new RegExp(`lines \\d+ to ${last + 2} of the export: a row of \\w+ is invalid`);
    await assert.rejects(importServer({ folder, env }, copy), { code: 'body_invalid', message: place });
    const other = await start({ folder, env });
    await other.parts.plans.set('team', 'people', '7', 'a test');
    await other.close();
    await assert.rejects(importServer({ folder, env }, file), { code: 'conflict' });
  });

  it('an export has every row of long tables once, while the server keeps answering', async () => {
    const rig = await openRig(start);
    await rig.addTarget('webhook', { 'events[]': 'failed' });
    const made = Array.from({ length: 1001 }, (_, index) => ({ event: 'failed' as const, id: `e-${index}` }));
    await rig.queue(made);
    const [exported, answer] = await Promise.all([exportServer(rig.server), rig.ann.get('/app')]);
    assert.equal(answer.status, 200);
    const ids = readFileSync(exported, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{"table":"deliveries"'))
      .map((line) => (JSON.parse(line) as { row: { message_id: string } }).row.message_id);
    assert.deepEqual(ids.sort(), made.map(({ id }) => id).sort());
  });

  it('an export is a snapshot, and delays no reader or writer', async () => {
    const { server, ann } = await openRig(start);
    const count = async (db: typeof server.parts.db): Promise<number> =>
      (await db.selectFrom('people').select('id').execute()).length;
    await server.parts.readApart((db) =>
      db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (snapshot) => {
          const before = await count(snapshot);
          assert.equal((await ann.post('/app/people', { name: 'bob', role: 'member' })).status, 200);
          assert.match((await ann.get('/app/people')).text, /bob/);
          assert.equal(await count(snapshot), before);
          assert.equal(await count(server.parts.db), before + 1);
        }),
    );
  });

  it('a new root secret leaves targets readable, and an interrupted change is completed', async () => {
    const rig = await openRig(start);
    const hook = await rig.addTarget();
    const { folder, env } = rig.server;
    const read = (): string => readFileSync(join(folder, 'server.key'), 'utf8').trim();
    await assert.rejects(rotateServerKey({ folder, env }, null), { code: 'already_running' });
    await rig.server.close();
    const before = read();
    assert.partialDeepStrictEqual(await rotateServerKey({ folder, env }, null), { values: 2 });
    assert.notEqual(read(), before);
    const after = read();
    // The state that remains if the process dies between the database and the file.
    writeFileSync(join(folder, 'server.key.next'), `${after}\n`, { mode: 0o600 });
    writeFileSync(join(folder, 'server.key'), `${before}\n`, { mode: 0o600 });
    const again = await start({ folder, env, ...ALLOWED });
    try {
      assert.equal(read(), after);
      const ann = await signIn(again, 'ann');
      const test = await ann.post(`/app/settings/targets/${hook.id}/test`);
      assert.match(test.text, /The test arrived/);
    } finally {
      await again.close();
    }
    const withSecret = { ...env, SVC_LEASE_SECRET: after };
    await assert.rejects(rotateServerKey({ folder, env: withSecret }, null), { code: 'usage' });
    await assert.rejects(rotateServerKey({ folder, env: withSecret }, 'short'), { code: 'usage' });
    await rotateServerKey({ folder, env: withSecret }, 'n'.repeat(40));
    await assert.rejects(start({ folder, env: withSecret }), { code: 'key_mismatch' });
    await (await start({ folder, env: { ...env, SVC_LEASE_SECRET: 'n'.repeat(40) } })).close();
    await rig.close();
  });

  it('bots, connected people and messages survive an export and a new root secret', async () => {
    const rig = await chatRig(start);
    const { workspace, messages, press, server, telegram } = rig;
    try {
      await workspace.waits([{}]);
      await workspace.tell([{ event: 'needs_approval', decision_id: 'd-17' }]);
      await rig.settle();
      const shown = { ...messages()[0]! };
      const file = await exportServer(server);
      const text = readFileSync(file, 'utf8');
      assert.ok(!text.includes(telegram.token));
      for (const button of shown.keyboard.flat())
        if (button.callback_data !== undefined) assert.ok(!text.includes(button.callback_data));
      await server.close();
      const folder = makeFolderWithKey(server);
      const env = await makeDatabase();
      await importServer({ folder, env }, file);
      assert.partialDeepStrictEqual(await rotateServerKey({ folder, env }, null), { values: 1 });
      const again = await start({ folder, env, telegramApi: telegram.url });
      try {
        const page = await (await signIn(again, 'ann')).get('/app/chats');
        assert.match(page.text, /Ann \(@ann_t\), id 4201/);
        assert.match(await press(ANN, shown, 'Approve'), /ann asked to approve/, 'the old button');
        await until(() => messages()[0]!.keyboard.length === 0, 'the message to change');
        assert.equal(messages().length, 1, 'nothing is posted twice');
        await again.parts.people.removeAccount('home', 'a test').catch(() => undefined);
        const { db, chats } = again.parts;
        await chats.settled();
        await db.deleteFrom('accounts').execute();
        for (const table of ['chat_users', 'chat_channels', 'chat_messages', 'chat_tickets'] as const)
          assert.deepEqual(await db.selectFrom(table).selectAll().execute(), [], table);
      } finally {
        await again.close();
      }
    } finally {
      await rig.close();
    }
  });

  it('messages are kept for 30 days, and codes until they are too old', async () => {
    const rig = await chatRig(start);
    const { workspace, messages, press, server, ann } = rig;
    try {
      await workspace.waits([{}]);
      await workspace.tell([{ event: 'needs_approval', decision_id: 'd-17' }]);
      await rig.settle();
      const shown = { ...messages()[0]! };
      await ann.post('/app/chats/channels/telegram/code');
      server.clock.advance(31 * DAY);
      await server.parts.retention.clean();
      assert.deepEqual(await server.parts.db.selectFrom('chat_codes').selectAll().execute(), []);
      assert.match(await press(ANN, shown, 'Approve'), /no longer known/);
    } finally {
      await rig.close();
    }
  });

  it('the log of changes is kept for 400 days', async () => {
    const rig = await openRig(start);
    try {
      const { changes, people } = rig.server.parts;
      const [home] = await people.listAccounts();
      await rig.advance(399 * DAY);
      assert.ok((await changes.list(home!.id)).rows.length > 0);
      await rig.advance(2 * DAY);
      assert.deepEqual((await changes.list(home!.id)).rows, []);
    } finally {
      await rig.close();
    }
  });
});
