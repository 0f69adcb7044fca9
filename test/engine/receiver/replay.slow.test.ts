import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createReplayCache, REPLAY_MS } from '../../../engine/receiver/replay.ts';
import { NOW } from '../../support/clock.ts';
import { codehost, decide, makeRig, type Rig, svcHeaders, task } from './rig.ts';

let rig: Rig;
beforeEach(() => {
  rig = makeRig();
});
afterEach(() => rig.close());

test('a repeated signature inside ten minutes is refused with 409 replayed', async () => {
  const ask = task(rig);
  assert.equal((await rig.ask(ask)).status, 201);
  const again = await rig.ask(ask);
  assert.deepEqual([again.status, again.body.code], [409, 'replayed']);
  assert.equal(rig.tasks.list({}).length, 1);
});

test('a signature is refused for as long as its timestamp could pass, and the ten minutes end', async () => {
  const body = '{"agent":"scripted","prompt":"x"}';
  const ahead = { path: '/task', body, headers: svcHeaders(body, rig.clock.now() + 300_000) };
  assert.equal((await rig.ask(ahead)).status, 201);
  rig.clock.advance(REPLAY_MS);
  assert.equal((await rig.ask(ahead)).status, 409, 'remembered until the last valid moment');
  rig.clock.advance(1);
  assert.equal((await rig.ask(ahead)).status, 401, 'then the timestamp refuses it');
  const event = codehost({ zen: 'x', hook_id: 1 }, 'ping');
  assert.equal((await rig.ask(event)).status, 200);
  assert.equal((await rig.ask(event)).status, 409);
  rig.clock.advance(REPLAY_MS + 1);
  assert.equal((await rig.ask(event)).status, 200, 'without a timestamp, remembered for only ten minutes');
});

test('the cache spans all routes and ids', async () => {
  await rig.ask(task(rig, { dispatch: true }));
  await rig.ask(task(rig, { dispatch: true }));
  const approve = decide(rig, 'd-1', 'approve');
  assert.equal((await rig.ask(approve)).status, 200);
  for (const path of ['/decisions/d-2/approve', '/decisions/d-2/deny', '/task']) {
    assert.equal((await rig.ask({ ...approve, path })).status, 409, path);
  }
  assert.equal(rig.decisions.get('d-2').state, 'pending');
  const { 'x-svc-timestamp': timestamp, 'x-svc-signature': signature } = approve.headers as Record<
    string,
    string
  >;
  const moved = {
    path: '/codehost',
    body: `${timestamp}.${approve.body}`,
    headers: { 'x-hub-signature-256': `sha256=${signature}` },
  };
  assert.equal((await rig.ask(moved)).status, 409, 'the same bytes under another scheme');
});

test('the cache survives a restart', async () => {
  const ask = task(rig);
  assert.equal((await rig.ask(ask)).status, 201);
  rig.reopen();
  assert.equal((await rig.ask(ask)).status, 409);
  assert.equal((await rig.ask(task(rig))).status, 201);
  assert.equal(rig.tasks.list({}).length, 2);
});

test('exactly one of 20 concurrent copies is accepted', async () => {
  const ask = task(rig, { dispatch: true });
  const answers = await Promise.all(Array.from({ length: 20 }, () => rig.ask(ask)));
  const statuses = answers.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [201, ...Array(19).fill(409)]);
  assert.equal(rig.tasks.list({}).length, 1);
  assert.equal(rig.decisions.list({}).length, 1);
});

test('20 copies among refused and other requests: each is handled once, and the refused one changes nothing', async () => {
  const copy = task(rig, { dispatch: true, approve: true });
  const refused = task(rig, { agent: 'nobody' });
  const others = Array.from({ length: 5 }, () => task(rig));
  const all = [...Array(20).fill(copy), refused, ...others, ...Array(3).fill(refused)];
  const answers = await Promise.all(all.map((ask) => rig.ask(ask)));
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  assert.deepEqual([count(201), count(422), count(409)], [6, 1, 22]);
  assert.equal(rig.tasks.list({}).length, 6);
  assert.equal(rig.sessions.list({}).length, 1);
});

test('the signature, the task, the decision and the event are one transaction', async () => {
  rig.storage.db.exec("CREATE TRIGGER no BEFORE INSERT ON decision BEGIN SELECT RAISE(ABORT, 'no'); END");
  const ask = task(rig);
  assert.ok((await rig.ask(ask)).status >= 500);
  const count = (table: string) => rig.storage.db.prepare(`SELECT count(*) AS n FROM ${table}`).get();
  for (const table of ['replay', 'task', 'event']) assert.deepEqual(count(table), { n: 0 }, table);
  rig.storage.db.exec('DROP TRIGGER no');
  rig.reopen();
  assert.equal((await rig.ask(ask)).status, 201);
});

test('a failed commit leaves nothing remembered', async () => {
  const ask = task(rig);
  // COMMIT itself checks deferred foreign keys.
  rig.storage.db.exec(`CREATE TABLE parent (id INTEGER PRIMARY KEY) STRICT;
    CREATE TABLE child (id INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED) STRICT;
    CREATE TRIGGER orphan AFTER INSERT ON task BEGIN INSERT INTO child VALUES (1); END`);
  assert.ok((await rig.ask(ask)).status >= 500);
  rig.storage.db.exec('DROP TRIGGER orphan');
  assert.equal((await rig.ask(ask)).status, 201);
});

test('expired signatures leave the table while new ones come in', async () => {
  for (let count = 0; count < 300; count++) await rig.ask(task(rig));
  rig.clock.advance(REPLAY_MS + 1);
  for (let count = 0; count < 300; count++) await rig.ask(task(rig));
  const { n } = rig.storage.db.prepare('SELECT count(*) AS n FROM replay').get() as { n: number };
  assert.ok(n < 600, `${n} rows`);
});

describe('a clock that changes', () => {
  const fill = async (): Promise<void> => {
    for (let count = 0; count < 300; count++) await rig.ask(task(rig));
  };

  test('a clock set ahead by more than ten minutes and back again does not empty the cache', async () => {
    const ask = task(rig);
    assert.equal((await rig.ask(ask)).status, 201);
    rig.clock.set(NOW + REPLAY_MS + 1000);
    assert.equal((await rig.ask(ask)).status, 401);
    await fill();
    rig.clock.set(NOW);
    assert.equal((await rig.ask(ask)).status, 409);
    rig.clock.advance(200_000);
    await fill();
    assert.equal((await rig.ask(ask)).status, 409);
  });

  test('a clock set by a few seconds, either way, changes nothing', async () => {
    const ask = task(rig);
    await rig.ask(ask);
    for (const step of [-2000, 1500, 0]) {
      rig.clock.set(NOW + step);
      await fill();
      assert.equal((await rig.ask(ask)).status, 409, `${step} ms`);
      assert.equal((await rig.ask(task(rig))).status, 201, `${step} ms`);
    }
  });

  test('a clock set ahead and back with a restart in between does not empty the cache either', async () => {
    const ask = task(rig);
    await rig.ask(ask);
    rig.clock.set(NOW + 86_400_000);
    rig.reopen();
    await fill();
    rig.clock.set(NOW);
    rig.reopen();
    assert.equal((await rig.ask(ask)).status, 409);
  });

  test('a clock set back to the time of a signature, after its ten minutes, does not accept it again', async () => {
    const ask = task(rig);
    await rig.ask(ask);
    rig.clock.advance(2 * REPLAY_MS);
    await fill();
    rig.clock.set(NOW);
    const again = await rig.ask(ask);
    assert.deepEqual([again.status, again.body.code], [401, 'timestamp_out_of_range']);
    assert.match(again.body.detail, /was set back/);
    rig.clock.advance(2 * REPLAY_MS);
    assert.equal((await rig.ask(task(rig))).status, 201, 'accepted after the used-up time has passed again');
  });

  test('a clock set back before anything was forgotten keeps every signature for as long as it could be replayed', async () => {
    const ask = task(rig);
    await rig.ask(ask);
    rig.clock.set(NOW - 290_000);
    rig.clock.advance(REPLAY_MS - 20_000);
    assert.equal((await rig.ask(ask)).status, 409);
    rig.clock.advance(21_000);
    rig.clock.set(NOW + 100_000);
    await fill();
    assert.equal((await rig.ask(ask)).status, 409, 'its timestamp would be valid again');
    rig.reopen();
    assert.equal((await rig.ask(ask)).status, 409, 'also after a restart');
  });

  test('a restart of the machine gives earlier signatures their full time again', () => {
    const cache = (boot: string | null) => createReplayCache({ ...rig, boot });
    const signature = Buffer.alloc(32, 7);
    const other = Buffer.alloc(32, 8);
    const write = (work: () => boolean) => rig.storage.db.transaction(work)();
    const first = cache('one');
    assert.equal(
      write(() => first.rememberSignature(signature, null)),
      true,
    );
    rig.clock.advance(REPLAY_MS - 1);
    const same = cache('one');
    rig.clock.advance(2);
    assert.equal(
      write(() => same.rememberSignature(other, null)),
      true,
    );
    assert.equal(
      write(() => cache('one').rememberSignature(signature, null)),
      true,
      'within one start it expires at its original time',
    );
    rig.clock.advance(REPLAY_MS - 1);
    for (const boot of ['two', null]) {
      const later = cache(boot);
      rig.clock.advance(REPLAY_MS - 1);
      assert.equal(
        write(() => later.rememberSignature(signature, null)),
        false,
        `${boot}`,
      );
    }
  });

  test('a longer retention is bounded by the requests of ten minutes', async () => {
    rig.clock.set(NOW + 3_600_000);
    await fill();
    rig.clock.set(NOW);
    for (let round = 0; round < 8; round++) {
      rig.clock.advance(REPLAY_MS + 1);
      await fill();
    }
    const { n } = rig.storage.db.prepare('SELECT count(*) AS n FROM replay').get() as { n: number };
    assert.ok(n < 1200, `${n} rows`);
  });
});
