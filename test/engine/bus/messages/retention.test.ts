import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type BusLimits, busSchema, readBusLimits } from '../../../../engine/bus/config.ts';
import { createBusLog } from '../../../../engine/bus/delivery/log.ts';
import { createMessages, type Messages } from '../../../../engine/bus/messages/index.ts';
import { createRetention, type MessageRetention } from '../../../../engine/bus/messages/retention.ts';
import type { MessageKind } from '../../../../engine/bus/messages/rows.ts';
import { createNotices } from '../../../../engine/bus/notices/index.ts';
import { createPeers } from '../../../../engine/workers/sessions/peers.ts';
import { createSeats } from '../../../../engine/workers/sessions/seats/index.ts';
import { type FakeClock, fakeClock } from '../../../support/clock.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';
import { openSpine, type Spine } from '../../../support/workspaces/spine.ts';

const HOUR = 3_600_000;

describe('retention of the bus', () => {
  let folder: string;
  let spine: Spine;
  let clock: FakeClock;
  let messages: Messages;
  let retention: MessageRetention;
  let limits: BusLimits;
  const errors: string[] = [];
  beforeEach(() => {
    folder = temporaryFolder();
    clock = fakeClock(Date.now());
    spine = openSpine(join(folder, 'svc.db'), clock);
    limits = readBusLimits(busSchema.parse({}));
    const { storage, events, sessions } = spine;
    const peers = createPeers({
      sessions,
      seats: createSeats({ storage, events, clock, atClose: () => undefined }),
    });
    messages = createMessages({ storage, events, clock, peers, onPending: () => undefined });
    retention = createRetention({
      storage,
      clock,
      limits: () => limits,
      data: folder,
      onError: (message) => errors.push(message),
    });
  });
  afterEach(async () => {
    await retention.close();
    spine.storage.close();
    rmSync(folder, { recursive: true });
    assert.deepEqual(errors, []);
  });

  const write = (kind: MessageKind, count = 1): Promise<number[]> =>
    spine.storage.write(() =>
      Array.from({ length: count }, () => {
        const [row] = messages.send(
          {
            kind,
            body: 'hello',
            payloadPath: null,
            fromSession: 'chair',
            fromAgent: null,
            fromName: null,
            parentId: null,
            taskId: null,
            origin: null,
          },
          [{ toSession: 'reader', toWorker: null, toAgent: null }],
          { actor: 'ada', via: 'cli' },
        );
        return row?.id ?? 0;
      }),
    );
  const ack = (id: number) =>
    spine.storage.write(() =>
      messages.ack(id, { session: 'reader', agent: null }, { actor: null, via: 'tool' }),
    );
  const kept = (): number[] => messages.list({ limit: 10_000 }).map(({ id }) => id);

  test('the defaults are 24 h, 168 h, 200 messages and 512 KiB', () => {
    assert.deepEqual(limits, {
      retainAckedMs: 24 * HOUR,
      retainUnreadMs: 168 * HOUR,
      noticesRetainMs: 24 * HOUR,
      surfacedRetainMs: 48 * HOUR,
      maxAcked: 200,
      logMaxBytes: 524_288,
    });
  });

  test('an acknowledged message expires at its age, an unread one later, an unread alert never', async () => {
    const [read = 0, unread = 0] = await write('note', 2);
    const [alert = 0, readAlert = 0] = await write('alert', 2);
    await ack(read);
    await ack(readAlert);
    clock.advance(24 * HOUR);
    await retention.run();
    assert.deepEqual(kept(), [readAlert, alert, unread, read]);
    clock.advance(1);
    await retention.run();
    assert.deepEqual(kept(), [alert, unread]);
    clock.advance(144 * HOUR);
    await retention.run();
    assert.deepEqual(kept(), [alert]);
    clock.advance(10_000 * HOUR);
    await retention.run();
    assert.deepEqual(kept(), [alert]);
    // Numbers are never reused.
    assert.deepEqual(await write('note'), [readAlert + 1]);
  });

  test('the newest N acknowledged messages are kept; 0 keeps all', async () => {
    const ids = await write('note', 1300);
    await Promise.all(ids.slice(2, 1251).map(ack));
    for (const id of [ids[1], ids[0]]) {
      clock.advance(1);
      await ack(id ?? 0);
    }
    limits = { ...limits, maxAcked: 0 };
    await retention.run();
    assert.equal(kept().length, 1300);
    limits = { ...limits, maxAcked: 3 };
    await retention.run();
    const unread = ids.slice(1251);
    assert.deepEqual(kept(), [...unread.reverse(), ids[1250], ids[1], ids[0]]);
  });

  test('a notice file is removed when it was not written for long, and nothing else in its folder', async () => {
    const notices = join(folder, 'notices');
    mkdirSync(join(notices, 'surfaced'), { recursive: true });
    mkdirSync(join(notices, 'kept.md'));
    const aged = (name: string, hours: number): void => {
      const file = join(notices, name);
      if (!existsSync(file)) writeFileSync(file, 'x');
      const at = (clock.now() - hours * HOUR) / 1000;
      utimesSync(file, at, at);
    };
    aged('old.md', 25);
    aged('young.md', 23);
    aged('other.txt', 999);
    aged('kept.md', 999);
    aged('surfaced/old.ids', 49);
    aged('surfaced/young.ids', 47);
    await retention.run();
    assert.deepEqual(readdirSync(notices).sort(), ['kept.md', 'other.txt', 'surfaced', 'young.md']);
    assert.deepEqual(readdirSync(join(notices, 'surfaced')), ['young.ids']);
  });

  test('a full notice file is replaced by a new one; 0 lets it grow', () => {
    let maxBytes = 100;
    const notices = createNotices({
      data: folder,
      paths: { resolveNamed: (path) => ({ absolute: path, key: path }) },
      maxBytes: () => maxBytes,
    });
    const file = notices.file('.svc/notices/s-1.md');
    const block = (letter: string) => `${letter.repeat(59)}\n`;
    notices.append(file, block('a'));
    notices.append(file, block('b'));
    assert.equal(readFileSync(file, 'utf8'), block('b'));
    assert.equal(readFileSync(join(folder, 'notices/s-1.1.md'), 'utf8'), block('a'));
    assert.ok(notices.has(file, block('a')) && notices.has(file, block('b')) && !notices.has(file, 'c'));
    maxBytes = 0;
    for (let count = 0; count < 10; count += 1) notices.append(file, block('c'));
    assert.equal(readFileSync(file, 'utf8').length, 660);
    assert.throws(() => notices.file('.svc/../x.md'), { code: 'path_outside' });
  });

  test('the log of the bus is rotated at its size; 0 lets it grow', () => {
    let maxBytes = 400;
    const log = createBusLog({ data: folder, maxBytes: () => maxBytes });
    const line = (id: number) =>
      log.add({ at: 'now', id, kind: 'note', from: null, to: 's-1', mode: 'file', ok: true, error: null });
    for (let id = 1; id <= 10; id += 1) line(id);
    const [newest, older] = ['bus.log', 'bus.log.1'].map((name) =>
      readFileSync(join(folder, 'log', name), 'utf8'),
    );
    assert.ok((newest?.length ?? 0) <= 400 && (older?.length ?? 0) <= 400);
    assert.match(newest ?? '', /"id":10,/);
    maxBytes = 0;
    for (let id = 11; id <= 30; id += 1) line(id);
    assert.match(readFileSync(join(folder, 'log/bus.log'), 'utf8'), /"id":10,[\s\S]*"id":30,/);
  });
});
