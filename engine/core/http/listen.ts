import { createServer, type Server } from 'node:net';
import { SvcError } from '../base/errors.ts';

/** A port of this machine, on every interface if `host` is ''; or the path of a socket. */
export type ListenAddress = { host: string; port: number } | { path: string };

/** Resolves when the server listens, HTTP or other. Throws `address_in_use`, `address_refused`. */
export async function listenOn(server: Server, address: ListenAddress): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen('path' in address || address.host !== '' ? address : { port: address.port }, resolve);
  try {
    await promise;
  } catch (thrown) {
    throw listenError(thrown as NodeJS.ErrnoException, address);
  } finally {
    server.off('error', reject);
  }
}

/** Returns why no server can listen on a port now, such as `EADDRINUSE`; null if one can. */
export async function findListenProblem(address: { host: string; port: number }): Promise<string | null> {
  const server = createServer();
  try {
    await listenOn(server, address);
    return null;
  } catch (error) {
    const cause = (error as SvcError).cause as NodeJS.ErrnoException;
    return cause.code ?? cause.message;
  } finally {
    server.close();
  }
}

function listenError(cause: NodeJS.ErrnoException, address: ListenAddress): SvcError {
  const where = nameAddress(address);
  if (cause.code !== 'EADDRINUSE')
    return new SvcError('address_refused', `cannot listen on ${where}: ${cause.code ?? cause.message}`, {
      cause,
    });
  return new SvcError('address_in_use', `${where} is in use`, {
    cause,
    ...('path' in address ? {} : { hint: 'stop the program that listens there, or choose another port' }),
  });
}

function nameAddress(address: ListenAddress): string {
  if ('path' in address) return address.path;
  const { host, port } = address;
  if (host === '') return `port ${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
