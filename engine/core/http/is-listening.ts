import { connect } from 'node:net';

const PROBE_MS = 2000;

/** Reports whether anything listens there. */
export const isListening = (host: string, port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect({ host, port, timeout: PROBE_MS });
    const settleAs = (isThere: boolean) => (): void => {
      socket.destroy();
      done(isThere);
    };
    socket.once('connect', settleAs(true)).once('error', settleAs(false)).once('timeout', settleAs(false));
  });
