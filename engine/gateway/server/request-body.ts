import type { IncomingMessage, ServerResponse } from 'node:http';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { HeldBytes } from './held-bytes.ts';

/** The reason for refusing a request. */
export class RefusedRequest extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const tooLarge = (most: number): RefusedRequest =>
  new RefusedRequest(413, 'body_too_large', `a request may have at most ${most} bytes`);
const tooSlow = (ms: number): RefusedRequest =>
  new RefusedRequest(408, 'request_timeout', `no part of the request arrived for ${Math.round(ms / 1000)} s`);
const tooBusy = (): RefusedRequest =>
  new RefusedRequest(503, 'busy', 'too many large requests are being answered; try again');

/**
 * Creates a reader for a request's body, without its encoding. It rejects with `RefusedRequest`, or when the client
 * disconnects. The memory of the body stays reserved until the reader releases it.
 */
export function createBodyReader({
  mostBytes: most,
  idleMs,
  held,
}: {
  mostBytes: number;
  /** Milliseconds between two chunks of a request. */
  idleMs: number;
  held: HeldBytes;
}): (request: IncomingMessage, response: Pick<ServerResponse, 'writeContinue'>) => Promise<Buffer> {
  function collectBody(request: IncomingMessage): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      let isOver = false;
      const timer = setTimeout(() => fail(tooSlow(idleMs)), idleMs);
      function fail(error: Error): void {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        held.give(size);
        chunks.length = 0;
        reject(error);
      }
      request.on('data', (chunk: Buffer) => {
        if (isOver) return;
        timer.refresh();
        if (!held.take(chunk.length)) return fail(tooBusy());
        size += chunk.length;
        chunks.push(chunk);
        if (size > most) fail(tooLarge(most));
      });
      request.once('end', () => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size));
      });
      request.once('error', fail);
      // Every request closes: an error with its stack trace is only built for one that was not read.
      request.once('close', () => {
        if (!isOver) fail(new Error('the client disconnected'));
      });
    });
  }

  return async (request, response) => {
    const { headers } = request;
    if (Number(headers['content-length'] ?? 0) > most) throw tooLarge(most);
    // A client that waits for 100-continue is answered now that the body is wanted.
    if (headers.expect !== undefined) response.writeContinue();
    const body = await collectBody(request);
    const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
    if (encoding === 'identity' || encoding === '') return body;
    try {
      return await decompress(body, encoding, { most, held });
    } finally {
      held.give(body.length);
    }
  };
}

const DECODERS = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** Decompresses a body. Each chunk is reserved as it arrives, so that small bodies cannot grow beyond the shared limit. */
function decompress(
  body: Buffer,
  name: string,
  { most, held }: { most: number; held: HeldBytes },
): Promise<Buffer> {
  const create = Object.hasOwn(DECODERS, name) ? DECODERS[name as keyof typeof DECODERS] : undefined;
  if (create === undefined)
    throw new RefusedRequest(
      415,
      'unsupported_encoding',
      `content-encoding ${name.slice(0, 40)} is not supported`,
    );
  const stream = create();
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    function fail(error: Error): void {
      held.give(size);
      size = 0;
      stream.destroy();
      reject(error);
    }
    stream.on('data', (chunk: Buffer) => {
      if (stream.destroyed) return;
      if (!held.take(chunk.length)) return fail(tooBusy());
      size += chunk.length;
      chunks.push(chunk);
      if (size > most) fail(tooLarge(most));
    });
    stream.once('error', () => fail(new RefusedRequest(400, 'body_invalid', `the body is not ${name}`)));
    stream.once('end', () => {
      // Briefly both the chunks and the whole exist.
      if (!held.take(size)) return fail(tooBusy());
      const whole = Buffer.concat(chunks, size);
      held.give(size);
      resolve(whole);
    });
    stream.end(body);
  });
}
