import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { temporaryFolder } from './git.ts';

/** Why no certificate can be made here; false where one can. */
export const missingOpenssl: string | false =
  spawnSync('openssl', ['version']).status === 0 ? false : 'openssl is missing';

/** A certificate that nobody vouches for but itself, good for these names. */
export interface Certificate {
  file: string;
  cert: Buffer;
  key: Buffer;
}

export function makeCertificate(...names: string[]): Certificate {
  const folder = temporaryFolder('certificate-');
  const file = join(folder, 'cert.pem');
  const keyFile = join(folder, 'key.pem');
  const words = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
  ];
  words.push('-subj', '/CN=svc tests', '-addext', `subjectAltName=${names.map((name) => `DNS:${name}`)}`);
  execFileSync('openssl', [...words, '-keyout', keyFile, '-out', file], { stdio: 'ignore' });
  return { file, cert: readFileSync(file), key: readFileSync(keyFile) };
}

/** Speaks TLS before a port of this machine that does not. */
export async function startTlsBefore(
  port: number,
  { cert, key }: Certificate,
): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer({ cert, key, ALPNProtocols: ['http/1.1'] }, (socket) => {
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
