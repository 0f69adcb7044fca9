import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { type Clock, systemClock } from '../../engine/core/base/clock.ts';
import { report } from '../support/processes/faults.ts';
import { startLinkProxy } from '../support/server/link-proxy.ts';
import { startTestServer, type TestServer } from '../support/server/linked-server.ts';
import { type LinkedWorkspace, linkWorkspace } from '../support/server/linked-workspace.ts';
import { until } from '../support/wait.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;

const shifted = (shift: () => number): Clock => ({
  now: () => systemClock.now() + shift(),
  monotonic: systemClock.monotonic,
});

async function readEvents({ parts: { db } }: TestServer): Promise<{ event: string; task_id: string }[]> {
  const rows = await db.selectFrom('workspace_events').select('body').execute();
  return rows.map(({ body }) => JSON.parse(body) as { event: string; task_id: string });
}

const settled = ({ here }: LinkedWorkspace): Promise<unknown> =>
  until(async () => (await here.call('link.status', {})).waiting_events === 0, 'everything to be told');

describe('a link with an interruption', () => {
  test('a server that is gone for ten minutes gets 1,000 events, each once', async (t) => {
    let shift = 0;
    const linked = await linkWorkspace({ engine: { clock: shifted(() => shift) } });
    t.after(() => linked.close());
    const { here, server } = linked;
    const { port, folder } = server;
    await server.close();
    const tasks: string[] = [];
    for (let at = 0; at < 500; at += 1) {
      const { task_id: id } = await here.call('task.add', { title: `task ${at}`, body: 'x' });
      await here.call('task.cancel', { id });
      tasks.push(id);
      shift += (10 * MINUTE) / 500;
    }
    const { waiting_events: waiting } = await here.call('link.status', {});
    assert.ok(waiting >= 500, `${waiting} events are pending`);
    linked.server = await startTestServer({ folder, addr: `127.0.0.1:${port}`, clock: systemClock });
    await settled(linked);
    const told = await readEvents(linked.server);
    assert.equal(told.length, waiting);
    const kinds = new Set(told.map(({ event }) => event));
    for (const kind of kinds) {
      const of = told.filter(({ event }) => event === kind).map(({ task_id }) => task_id);
      assert.deepEqual(of.toSorted(), tasks.toSorted(), kind);
    }
    report(`a server that was gone under ${waiting} events`, 'each arrived, once');
  });

  test('a proxy holds every answer back, and cuts what takes long', async (t) => {
    const proxy = await startLinkProxy();
    t.after(() => proxy.close());
    const linked = await linkWorkspace({
      async start(options) {
        const server = await startTestServer({ ...options, publicUrl: proxy.url });
        proxy.upstream = server.port;
        return server;
      },
    });
    t.after(() => linked.close());
    const { here } = linked;
    await linked.setDecide({ ann: ['page'] });
    const held = await here.ask('through a proxy that buffers');
    assert.match((await linked.press('deny', held.decision_id)).text, /Denied by ann on the web/);
    proxy.patienceMs = 200;
    // The open poll keeps its own time limit; the next ones are cut.
    const cut = await here.ask('through a proxy that cuts');
    assert.match((await linked.press('deny', cut.decision_id)).text, /Denied by ann on the web/);
    await until(() => proxy.cut > 0, 'a poll that is cut');
    const last = await here.ask('after that');
    const page = await linked.press('deny', last.decision_id);
    await until(
      async () => (await here.call('decision.show', { id: last.decision_id })).decision.state === 'denied',
      'the denial',
    );
    assert.ok(page.status < 400);
    await settled(linked);
    report('a proxy that buffers, and one that cuts long polls', 'events and commands went through');
  });

  test('a clock that is three days off, on either side and either way, allows decisions', async () => {
    for (const [side, days] of [
      ['engine', 3],
      ['engine', -3],
      ['server', 3],
      ['server', -3],
    ] as const) {
      let shift = 0;
      const clock = shifted(() => shift);
      const linked = await linkWorkspace({
        ...(side === 'engine' ? { engine: { clock } } : {}),
        start: (options) => startTestServer({ ...options, clock: side === 'server' ? clock : systemClock }),
      });
      try {
        await linked.setDecide({ ann: ['page'] });
        const first = await linked.here.ask('say hello');
        const asked = await linked.here.ask('say hello again');
        await linked.waits(asked.decision_id);
        shift = days * DAY;
        // The answer to this press carries the server's time.
        await linked.press('deny', first.decision_id);
        assert.match((await linked.press('approve', asked.decision_id)).text, /Approved by ann on the web/);
        await until(
          async () => (await linked.here.call('entitlements.status', {})).lease.state === 'valid',
          `a valid lease with the clock of the ${side} ${days} days off`,
          // A changed clock is noticed within a minute.
          180_000,
        );
        const { clock_offset_ms: offset } = await linked.here.call('link.status', {});
        const expected = (side === 'server' ? days : -days) * DAY;
        assert.ok(Math.abs((offset ?? 0) - expected) < MINUTE, `${offset}`);
      } finally {
        await linked.close();
      }
    }
    report('clocks three days off', 'decided from outside each time, with a valid lease');
  });

  test('a full disk of the server acknowledges nothing, and everything arrives when there is room', async (t) => {
    const linked = await linkWorkspace();
    t.after(() => linked.close());
    const { here, server } = linked;
    await here.ask('before');
    await settled(linked);
    const { db } = server.parts;
    // SQLite itself reports SQLITE_FULL if the file must not grow, as on a full disk.
    const pages = await sql<{ page_count: number }>`PRAGMA page_count`.execute(db);
    await sql`PRAGMA max_page_count = ${sql.lit(pages.rows[0]!.page_count)}`.execute(db);
    const tasks: string[] = [];
    for (let at = 0; at < 200; at += 1)
      tasks.push((await here.call('task.add', { title: 'x'.repeat(200), body: 'x' })).task_id);
    await until(async () => (await here.call('link.status', {})).state === 'unreachable', 'the refusal');
    const { waiting_events: waiting, problem } = await here.call('link.status', {});
    assert.ok(waiting > 0, `${waiting} events are pending`);
    assert.match(problem ?? '', /full/);
    const [first] = tasks;
    await sql`PRAGMA max_page_count = 1000000`.execute(db);
    await settled(linked);
    const told = (await readEvents(server)).filter(({ task_id }) => tasks.includes(task_id));
    assert.equal(told.filter(({ task_id }) => task_id === first).length, told.length / tasks.length);
    report('a full disk under a linked server', 'what was not kept was sent again');
  });
});
