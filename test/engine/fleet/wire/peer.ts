import type { Duplex } from 'node:stream';
import { SvcError } from '../../../../engine/core/base/errors.ts';
import { sentence } from '../../../../engine/core/base/sentence.ts';
import {
  type CallContext,
  FLEET_PROTOCOL,
  type LinkHandlers,
  type LinkHello,
} from '../../../../engine/fleet/wire/index.ts';

export const HELLO: LinkHello = { protocol: FLEET_PROTOCOL, version: '0.1.0', about: { name: 'box2' } };

/** The methods and streams that tests use of the other end. */
export function makePeer() {
  const notices: { name: string; data: unknown }[] = [];
  const streams: Duplex[] = [];
  let aborted = 0;

  const methods: Record<string, (input: unknown, context: CallContext) => unknown> = {
    echo: (input) => input,
    text: (length) => 'é'.repeat(Number(length) / 2),
    refuse: () => {
      throw new SvcError('lock_denied', 'the lock of a.ts is held', {
        hint: sentence`{lock.status} shows by whom`,
        data: { path: 'a.ts', holder: 's-7' },
      });
    },
    fail: () => Promise.reject(new TypeError('not ours')),
    unknown: () => {
      throw Object.assign(new SvcError('conflict', 'of a later version'), { code: 'later_code' });
    },
    unwritable: () => 1n,
    report: (count, { report }) => {
      for (let at = 0; at < Number(count); at += 1) report(at === 1 ? 'x'.repeat(200_000) : at);
      return 'reported';
    },
    /** Reports that it has begun, and ends only when it is aborted. */
    wait: (_, { signal, report }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted += 1;
          resolve(null);
        });
        report('begun');
      }),
    aborted: () => aborted,
    notices: () => notices,
    /** The bytes that wait in the streams that this end has accepted. */
    held: () => streams.map(({ readableLength }) => readableLength),
  };

  const accept: Record<string, (stream: Duplex, data: unknown) => void> = {
    echo: (stream) => void stream.pipe(stream),
    source: (stream, bytes) => sendBytes(stream, Number(bytes)),
    /** Is never read. */
    stuck: () => undefined,
    broken: (stream) => void stream.destroy(new SvcError('storage_full', 'no space is left')),
    closed: (stream) => void stream.destroy(),
    throwing: () => {
      throw new SvcError('conflict', 'it broke after it was accepted');
    },
  };

  const handlers: LinkHandlers = {
    onCall: async (method, input, context) => {
      const run = methods[method];
      if (run === undefined) throw new SvcError('not_found', `this end has no method ${method}`);
      return run(input, context);
    },
    onNotice: (name, data) => void notices.push({ name, data }),
    onStream: (name, data) => {
      const begin = accept[name];
      if (begin === undefined) throw new SvcError('not_found', `this end has no stream ${name}`);
      return (stream) => {
        streams.push(stream);
        begin(stream, data);
      };
    },
  };
  return { handlers, notices, streams };
}

/** Sends bytes, as fast as they are taken. */
export function sendBytes(stream: Duplex, total: number): void {
  const chunk = Buffer.alloc(64 * 1024, 7);
  let left = total;
  const send = (): void => {
    while (left > 0 && !stream.destroyed) {
      const size = Math.min(left, chunk.length);
      left -= size;
      if (!stream.write(chunk.subarray(0, size))) {
        stream.once('drain', send);
        return;
      }
    }
    stream.end();
  };
  send();
}
