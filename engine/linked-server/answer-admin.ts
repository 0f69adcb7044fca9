import type { IncomingMessage, ServerResponse } from 'node:http';
import { asSvcError, SvcError, toHttpStatus } from '../core/base/errors.ts';
import { administer } from './administer.ts';
import type { ServerParts } from './http/context.ts';

const LARGEST_ADMIN_BYTES = 64 * 1024;

/** Answers a command of the server's own user, at a socket that only this user can open. */
export async function answerAdmin(
  parts: ServerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const writeAdminAnswer = (status: number, body: object): void => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  };
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > LARGEST_ADMIN_BYTES) throw new SvcError('body_too_large', 'the request is too large');
      chunks.push(chunk);
    }
    const input: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    writeAdminAnswer(200, { result: await administer(parts, request.url?.slice(1) ?? '', input) });
  } catch (thrown) {
    const { code, message, hint } = asSvcError(thrown);
    writeAdminAnswer(toHttpStatus(code), {
      code,
      message,
      ...(hint === undefined ? {} : { hint: String(hint) }),
    });
  }
}
