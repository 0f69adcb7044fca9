import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createReaper } from '../../../../engine/workers/sessions/reaper.ts';
import {
  createSeats,
  type NewSeat,
  type SeatRegistry,
} from '../../../../engine/workers/sessions/seats/index.ts';
import { type FakeClock, fakeClock } from '../../../support/clock.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';
import { openSpine, type Spine } from '../../../support/workspaces/spine.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('the register of seats', () => {
  let folder: string;
  let clock: FakeClock;
  let spine: Spine;
  let seats: SeatRegistry;
  let alive: 'alive' | 'dead' | 'unknown';
  let closed: string[];
  let look: () => Promise<void>;

  beforeEach(() => {
    folder = temporaryFolder('svc-seats-');
    clock = fakeClock();
    spine = openSpine(join(folder, 'svc.db'), clock);
    closed = [];
    alive = 'alive';
    seats = createSeats({ ...spine, clock, atClose: (id) => void closed.push(id) });
    const log = { info: () => undefined, error: () => undefined };
    const reaper = createReaper({
      storage: spine.storage,
      clock,
      seats,
      isAlive: () => alive,
      intervalSec: () => 0,
      takeUp: async () => undefined,
      log,
    });
    look = reaper.look;
  });
  afterEach(() => {
    spine.storage.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = (seat: Partial<NewSeat> = {}) =>
    spine.storage.write(
      () =>
        seats.open({
          kind: seat.name === undefined ? 'chair' : 'plain',
          name: null,
          project: null,
          agent: null,
          title: null,
          notifyBase: null,
          process: null,
          ...seat,
        }).sessionId,
    );
  const process = (pid: number) => ({ pid, pidStart: String(pid) });

  test('a dead process is missed twice before its seat is closed; a failed probe changes nothing', async () => {
    const id = await open({ process: process(7) });
    alive = 'dead';
    await look();
    assert.deepEqual(closed, []);
    alive = 'unknown';
    await look();
    assert.deepEqual(closed, []);
    alive = 'alive';
    await look();
    alive = 'dead';
    await look();
    assert.deepEqual(closed, [], 'a check that finds it alive restarts the countdown');
    await look();
    assert.deepEqual(closed, [id]);
  });

  test('a silent connected client keeps its seat, even when another of its name has died', async () => {
    const shared = await open({ name: 'alice', process: process(7) });
    await open({ name: 'alice', process: process(8) });
    const web = await open();
    const leaves = [seats.hold(shared), seats.hold(shared), seats.hold(web)];
    alive = 'dead';
    clock.advance(3 * HOUR);
    for (let at = 0; at < 3; at += 1) await look();
    assert.deepEqual(closed, []);
    leaves[0]?.();
    leaves[0]?.();
    assert.equal(seats.holders(shared), 1);
    for (const leave of leaves) leave();
    await look();
    await look();
    assert.deepEqual(closed.sort(), [shared, web].sort());
  });

  test("the time of a session's last call is saved at the next check", async () => {
    const id = await open({ name: 'alice' });
    clock.advance(HOUR / 2);
    seats.seen(id);
    await look();
    // Left behind by an engine that was killed.
    const again = createSeats({ ...spine, clock, atClose: () => undefined });
    assert.equal(Date.parse(again.find(id)?.seenAt ?? ''), clock.now());
    assert.equal(seats.isHeard(), false);
  });

  test('seats that closed a month ago are forgotten, unless they have unread mail', async () => {
    const [gone, mailed, plain, young] = [
      await open(),
      await open(),
      await open({ name: 'p' }),
      await open(),
    ];
    await spine.storage.write(() => {
      for (const id of [gone, mailed, plain]) seats.close(id, 'it left');
      spine.storage.db
        .prepare(
          `INSERT INTO message (kind, body, to_session, created_at, delivery) VALUES ('alert', 'x', ?, 1, 'none')`,
        )
        .run(mailed);
    });
    clock.advance(20 * DAY);
    await spine.storage.write(() => seats.close(young, 'it left'));
    clock.advance(11 * DAY);
    await look();
    assert.deepEqual(
      [gone, mailed, plain, young].map((id) => seats.find(id) !== null),
      [false, true, false, true],
    );
    assert.notEqual(await open(), gone, 'no number is reused');
  });
});
