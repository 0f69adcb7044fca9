import { createHash } from 'node:crypto';
import { createServer } from 'node:net';

/** Outside of the ranges from which Linux and macOS take ports for outgoing connections, and of common servers. */
const FIRST = 20_000;
const COUNT = 10_000;
/** So many occupied ports in a row mean that something else is wrong. */
const MOST_TRIES = 100;

/** Reports whether a server could listen there now. A machine without that address has no server on it. */
const isFreeAt = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'EADDRINUSE'));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });

/** Reports whether a port of loopback is free: `localhost` may mean either address. */
const isFree = async (port: number): Promise<boolean> =>
  (await isFreeAt('127.0.0.1', port)) && isFreeAt('::1', port);

/**
 * Finds a free port for a worktree. The search starts at a number that depends on its path, so that worktrees of other
 * workspaces, whose servers may not be running now, rarely get the same. Null if there is none.
 */
export async function findWorktreePort(worktree: string, taken: readonly number[]): Promise<number | null> {
  const start = createHash('sha256').update(worktree).digest().readUInt32BE(0);
  for (let step = 0; step < MOST_TRIES; step += 1) {
    const port = FIRST + ((start + step) % COUNT);
    if (!taken.includes(port) && (await isFree(port))) return port;
  }
  return null;
}
