import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Returns a port of this machine on which nothing listens. Systems choose ports above these by themselves, so another
 * test is unlikely to take it before the program that it is for.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      // Something listens there.
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
