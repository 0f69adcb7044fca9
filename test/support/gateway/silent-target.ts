import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { AUTHORITY, CERTIFICATE, KEY } from '../../../fixtures/tls/certificate.ts';

/** Starts a server with HTTP/2 and HTTP/1.1 over TLS; this process trusts its certificate until it is closed. */
export interface SilentTarget {
  port: number;
  /** Resolves when the first request arrives, which is never answered. */
  asked: Promise<void>;
  close(): void;
}

/** A target whose first connection stays silent forever, as if a router had dropped it; others are answered. */
export async function startSilentTarget(): Promise<SilentTarget> {
  const known = getCACertificates('default');
  setDefaultCACertificates([...known, AUTHORITY]);
  const asked = Promise.withResolvers<void>();
  let silentPort: number | undefined;
  const server = createSecureServer(
    { key: KEY, cert: CERTIFICATE, allowHTTP1: true },
    (request, response) => {
      const { remotePort } = request.socket;
      silentPort ??= remotePort;
      if (remotePort === silentPort) asked.resolve();
      else response.end('{}');
    },
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    asked: asked.promise,
    close() {
      setDefaultCACertificates(known);
      server.close();
    },
  };
}
