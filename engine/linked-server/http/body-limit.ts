import { SvcError, toHttpStatus } from '../../core/base/errors.ts';
import { PROBLEM_JSON, problemDetails } from '../../core/http/problem-details.ts';
import { LARGEST_SIGNED_BYTES } from '../../core/http/signature.ts';
import { LARGEST_DECISIONS_BYTES, LARGEST_EVENTS_BYTES } from '../../core/link-protocol/messages.ts';
import { readHeader, type ServerContext } from './context.ts';

const LARGEST_FORM_BYTES = 64 * 1024;
/** Chat services may quote whole messages. */
const LARGEST_CHAT_BYTES = 1024 * 1024;
/** Workspaces send more than any form. */
const LARGER: ReadonlyMap<string, number> = new Map([
  ['/v1/events', LARGEST_EVENTS_BYTES],
  ['/v1/decisions', LARGEST_DECISIONS_BYTES],
]);
const SIGNED = /^\/v1\/decisions\/./;

function findLimit(path: string): number {
  if (SIGNED.test(path)) return LARGEST_SIGNED_BYTES;
  if (path.startsWith('/chats/')) return LARGEST_CHAT_BYTES;
  return LARGER.get(path) ?? LARGEST_FORM_BYTES;
}

/** Refuses bodies that are too large by their declared length, and bodies without one. */
export function limitBody(context: ServerContext): Response | null {
  const length = readHeader(context, 'content-length');
  const most = findLimit(context.req.path);
  const error =
    length !== undefined && Number(length) > most
      ? new SvcError('body_too_large', `the body is larger than ${most / 1024} KB`)
      : length === undefined && readHeader(context, 'transfer-encoding') !== undefined
        ? new SvcError('body_invalid', 'the length of the body is missing', {
            hint: 'send it with Content-Length',
          })
        : null;
  if (error === null) return null;
  return context.body(JSON.stringify(problemDetails(error)), toHttpStatus(error.code) as 400, {
    'Content-Type': PROBLEM_JSON,
    Connection: 'close',
  });
}
