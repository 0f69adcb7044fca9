import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { createServer } from 'node:tls';
import { CERTIFICATE, KEY } from '../../../fixtures/tls/certificate.ts';

/** Serves TLS under a name below `svc.test`, in front of a local port that does not. */
export async function startTlsBefore(port: number): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer({ cert: CERTIFICATE, key: KEY, ALPNProtocols: ['http/1.1'] }, (socket) => {
    const through = connect(port, '127.0.0.1');
    through.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('error', () => through.destroy()).on('close', () => through.destroy());
    through.pipe(socket).pipe(through);
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      await once(server, 'close');
    },
  };
}
