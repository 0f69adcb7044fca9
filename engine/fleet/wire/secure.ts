import type { Duplex } from 'node:stream';
import { connect as connectTls, createServer, type TLSSocket } from 'node:tls';
import { SvcError } from '../../core/base/errors.ts';

/** The identities of this end and of the expected other end. Both are PEM; each certificate is signed by its own key. */
export interface SecureEnds {
  key: string;
  certificate: string;
  /** The certificate of the other end, known before. */
  peer: string;
}

/** How long the two ends may take to know each other, ms. */
const HANDSHAKE_MS = 15_000;

/** Waits until `listen` reports the secure stream. Destroys the plain one otherwise. */
function awaitHandshake(
  stream: Duplex,
  listen: (done: (socket: TLSSocket) => void, fail: (error?: unknown) => void) => void,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(fail, HANDSHAKE_MS);
    function fail(cause?: unknown): void {
      clearTimeout(timer);
      stream.destroy();
      reject(new SvcError('runner_unreachable', 'the other end has not proved who it is', { cause }));
    }
    stream.once('close', fail);
    listen((socket) => {
      clearTimeout(timer);
      stream.off('close', fail);
      resolve(socket);
    }, fail);
  });
}

/**
 * Encrypts a stream between two ends that know each other's certificates, so that nothing between them can read, change
 * or repeat anything: TLS 1.3 with a certificate of each. Throws `runner_unreachable`.
 */
export const secureAsClient = (stream: Duplex, { key, certificate, peer }: SecureEnds): Promise<TLSSocket> =>
  awaitHandshake(stream, (done, fail) => {
    const socket = connectTls({
      socket: stream,
      ...{ key, cert: certificate, ca: peer, minVersion: 'TLSv1.3' },
      // The one certificate that is accepted is known: its name says nothing more.
      checkServerIdentity: () => undefined,
    });
    socket.once('error', fail).once('secureConnect', () => done(socket));
  });

/** The other end of `secureAsClient`. */
export const secureAsServer = (stream: Duplex, { key, certificate, peer }: SecureEnds): Promise<TLSSocket> =>
  awaitHandshake(stream, (done, fail) => {
    const server = createServer({
      ...{ key, cert: certificate, ca: peer, minVersion: 'TLSv1.3' },
      ...{ requestCert: true, rejectUnauthorized: true, handshakeTimeout: HANDSHAKE_MS },
    });
    server.once('secureConnection', done).once('tlsClientError', fail);
    server.emit('connection', stream);
  });
