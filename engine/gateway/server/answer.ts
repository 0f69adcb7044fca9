import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type Fault, type ProtocolFace, writeFault } from '../protocols/index.ts';

/** Why a call has failed: the code is a stable word of svc's, such as `budget_exceeded`. */
export type CallFailure = Pick<Fault, 'status' | 'message'> & { code: string };

/** Statuses after which trying again is of no use: clients that ask are told so. */
const FINAL = new Set([400, 401, 402, 403, 404, 405, 413, 415, 422]);
/** What only a person can change, although its status is one that clients try again. */
const FINAL_CODES = new Set(['gateway_off', 'no_provider']);

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
  const isFinal = FINAL.has(failure.status) || FINAL_CODES.has(failure.code);
  sendJson(response, failure.status, writeFault(face.name, { ...failure, field: null }), {
    ...(isFinal ? { 'x-should-retry': 'false' } : {}),
    ...headers,
  });
}
