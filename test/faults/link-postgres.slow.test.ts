import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { systemClock } from '../../engine/core/base/clock.ts';
import { report } from '../support/processes/faults.ts';
import { startTestServer } from '../support/server/linked-server.ts';
import { linkWorkspace } from '../support/server/linked-workspace.ts';
import { findPostgres, startPostgres, type TestPostgres } from '../support/server/postgres.ts';
import { startServerProgram } from '../support/server/server-program.ts';
import { until } from '../support/wait.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';

const bin = findPostgres();

describe('PostgreSQL is stopped hard', { skip: bin === null ? 'PostgreSQL is not installed' : false }, () => {
  let postgres: TestPostgres;
  before(async () => {
    postgres = await startPostgres(bin!);
  });
  after(() => postgres.stop());

  test('PostgreSQL returns: nothing was acknowledged without it, everything arrives, and the database is locked again', async (t) => {
    const env = { DATABASE_URL: await postgres.createDatabase('link') };
    const linked = await linkWorkspace({ start: (options) => startTestServer({ ...options, env }) });
    t.after(() => linked.close());
    const { here, server } = linked;
    await linked.setDecide({ ann: ['page'] });
    const before = await here.ask('before');
    await linked.waits(before.decision_id);

    await postgres.crash();
    const during = await Promise.all(Array.from({ length: 20 }, (_, at) => here.ask(`during ${at}`)));
    await until(async () => (await here.call('link.status', {})).state === 'unreachable', 'the failure');
    assert.ok((await here.call('link.status', {})).waiting_events >= during.length);
    const health = await fetch(`${server.url}/healthz`);
    assert.equal(health.status, 500);
    await health.text();

    await postgres.restart();
    await until(async () => (await here.call('link.status', {})).waiting_events === 0, 'every event');
    for (const { decision_id } of [before, ...during]) await linked.waits(decision_id);
    const rows = await server.parts.db.selectFrom('workspace_events').select(['id', 'body']).execute();
    const asked = rows.map(({ body }) => JSON.parse(body) as { event: string; decision_id: string });
    for (const { decision_id } of [before, ...during])
      assert.equal(
        asked.filter((each) => each.event === 'needs_approval' && each.decision_id === decision_id).length,
        1,
        decision_id,
      );
    assert.match((await linked.press('deny', before.decision_id)).text, /Denied by ann on the web/);
    // The lock was lost with the connection and is acquired again; a second server that starts before would take it.
    const locks = sql`SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted`;
    await until(async () => (await locks.execute(server.parts.db)).rows.length > 0, 'the lock');
    await assert.rejects(
      startTestServer({ env, clock: systemClock }),
      /already runs on this database: svc-server/,
    );
    report('kill -9 of PostgreSQL under a linked server', 'nothing was lost, and nothing arrived twice');
  });

  test('another server takes the database first: this one ends and names it', async () => {
    const env = { DATABASE_URL: await postgres.createDatabase('taken') };
    const folder = temporaryFolder('server-');
    const program = await startServerProgram(folder, { env });
    const secret = readFileSync(join(folder, 'server.key'), 'utf8').trim();
    await postgres.crash();
    // While stopped it cannot check PostgreSQL or the lock.
    process.kill(program.child.pid!, 'SIGSTOP');
    await postgres.restart();
    const other = await startTestServer({ env: { ...env, SVC_LEASE_SECRET: secret } });
    const ended = new Promise<number | null>((resolve) => program.child.once('exit', resolve));
    process.kill(program.child.pid!, 'SIGCONT');
    assert.notEqual(await ended, 0);
    await other.close();
    report('a database that another server has taken', 'the first one ended');
  });
});
