import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { CallFailure, ProtocolFace } from '../protocols/index.ts';

/** Statuses after which trying again is of no use: clients that ask are told so. */
const FINAL = new Set([400, 401, 402, 403, 404, 405, 413, 415, 422]);

/** Sends a whole answer; nothing when one has been begun or the client has gone. */
export function sendBody(
  response: ServerResponse,
  status: number,
  body: Buffer | string,
  headers: OutgoingHttpHeaders = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  response.writeHead(status, {
    'content-type': 'application/json',
    ...headers,
    'content-length': bytes.length,
  });
  response.end(bytes);
}

export const sendJson = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: OutgoingHttpHeaders = {},
): void => sendBody(response, status, JSON.stringify(body), headers);

/** Sends an error in the shape of the caller's protocol. */
export function sendFailure(
  response: ServerResponse,
  face: ProtocolFace,
  failure: CallFailure,
  headers: OutgoingHttpHeaders = {},
): void {
  const final = FINAL.has(failure.status) ? { 'x-should-retry': 'false' } : {};
  sendJson(response, failure.status, face.formatError(failure), { ...final, ...headers });
}
