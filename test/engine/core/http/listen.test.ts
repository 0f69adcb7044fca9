import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import type { SvcError } from '../../../../engine/core/base/errors.ts';
import { listenOn } from '../../../../engine/core/http/listen.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

test('a port in use is named, with the next step', async (t) => {
  const [one, other] = [createServer(), createServer()];
  t.after(() => one.close());
  await listenOn(one, { host: '127.0.0.1', port: 0 });
  const { port } = one.address() as AddressInfo;
  await assert.rejects(listenOn(other, { host: '127.0.0.1', port }), (error: SvcError) => {
    assert.deepEqual([error.code, error.message], ['address_in_use', `127.0.0.1:${port} is in use`]);
    assert.match(String(error.hint), /another port/);
    return true;
  });
  // The same server may try again at another address.
  await listenOn(other, { host: '127.0.0.1', port: 0 });
  assert.equal(other.listenerCount('error'), 0);
  other.close();
});

test('an address of another machine is refused', async () => {
  await assert.rejects(listenOn(createServer(), { host: '203.0.113.9', port: 0 }), {
    code: 'address_refused',
    message: /^cannot listen on 203\.0\.113\.9:0: E/,
  });
  await assert.rejects(listenOn(createServer(), { host: '2001:db8::1', port: 9 }), {
    code: 'address_refused',
    message: /^cannot listen on \[2001:db8::1\]:9: E/,
  });
});

test('a socket is listened on by its path', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'svc.sock');
  const server = createServer();
  try {
    await listenOn(server, { path });
    assert.equal(server.address(), path);
    await assert.rejects(listenOn(createServer(), { path }), { code: 'address_in_use' });
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
});
