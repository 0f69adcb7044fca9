import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type ProtocolFace, type ProviderFault, writeFault } from '../protocols/index.ts';

/** Why a call failed: the code is a stable code of svc, such as `budget_exceeded`. */
export type CallFailure = Pick<ProviderFault, 'status' | 'message'> & { code: string };

/** Statuses for which a retry is useless: the answer tells clients so. */
const FINAL = new Set([400, 401, 402, 403, 404, 405, 413, 415, 422]);
/** Problems that only a person can fix, although clients retry their status. */
const FINAL_CODES = new Set(['gateway_off', 'no_provider']);

/** Sends a whole answer, unless one was started or the client has disconnected. */
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

/** Sends an error in the caller's protocol. */
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
