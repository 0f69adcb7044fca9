import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { findWorktreePort } from '../../../../../engine/workers/runner/runs/index.ts';

test('a worktree gets the same port each time, unless another worktree or program has it', async () => {
  const path = `/nowhere/${process.pid}`;
  const port = await findWorktreePort(path, []);
  assert.ok(port !== null && port >= 20_000 && port < 30_000);
  assert.equal(await findWorktreePort(path, []), port);
  const next = await findWorktreePort(path, [port]);
  assert.notEqual(next, port);
  for (const host of ['127.0.0.1', '::1']) {
    const server = createServer().listen(port, host);
    await once(server, 'listening');
    try {
      assert.equal(await findWorktreePort(path, []), next, host);
    } finally {
      server.close();
      await once(server, 'close');
    }
  }
});
