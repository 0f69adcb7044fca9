import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { FIRST_CALL_MS } from '../../../engine/link/server-calls.ts';
import { startHostileServer } from '../../support/server/hostile-server.ts';
import { until } from '../../support/wait.ts';
import { engineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace } from '../../support/workspaces/workspace.ts';

test('an engine accepts no command before it has taken over the state of an earlier one', async (t) => {
  const server = await startHostileServer();
  const ws = await makeWorkspace();
  const first = await engineHere(ws);
  await first.call('link.start', { server: server.url, token: 'svcm_machine' });
  await until(async () => (await first.call('link.status', {})).state === 'connected');
  // The gateway keeps running and answers the next engine slowly.
  const program = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  let polledMeanwhile: number | null = null;
  const polls = () => server.received.filter(({ path }) => path.startsWith('/v1/commands?')).length;
  const leases = () => server.received.filter(({ path }) => path.startsWith('/v1/lease')).length;
  const gateway = createServer((_request, response) => {
    const before = polls();
    setTimeout(() => {
      polledMeanwhile ??= polls() - before;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    }, 2 * FIRST_CALL_MS);
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  const file = join(ws.root, '.svc', 'gateway.json');
  const record = {
    pid: program.pid,
    pidStart: first.engine.startOf(program.pid!),
    version: first.engine.version,
    dataId: readFileSync(join(ws.root, '.svc', 'id'), 'utf8').trim(),
    host: '127.0.0.1',
    port: (gateway.address() as AddressInfo).port,
    token: 'token',
    startedAt: new Date().toISOString(),
  };
  await first.close();
  const leasesBefore = leases();
  writeFileSync(file, JSON.stringify(record), { mode: 0o600 });
  const here = await engineHere(ws);
  rmSync(file);
  t.after(async () => {
    await here.end();
    program.kill();
    gateway.close();
    await server.close();
    await ws.close();
  });
  await until(async () => (await here.call('link.status', {})).state === 'connected');
  assert.equal(polledMeanwhile, 0);
  await until(() => leases() > leasesBefore, 'its lease');
  assert.doesNotMatch((await here.call('entitlements.status', {})).lease.note ?? '', /is not linked/);
  assert.equal((await server.give({ verb: 'run' })).outcome, 'unknown_verb');
});
