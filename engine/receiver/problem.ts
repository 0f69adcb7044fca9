import { type ErrorCode, type SvcError, toHttpStatus } from '../base/errors.ts';
import type { Answer } from './request.ts';

// Only these facts of an error leave; anything else in its data is for this machine.
const EXTENSIONS = [
  'fields',
  'server_time',
  'task_id',
  'decision_id',
  'session_id',
  'state',
  'changed',
] as const;

/** Their hints are about files of this machine. */
const HINTS_KEPT: readonly ErrorCode[] = ['ledger_gate'];

const OWN_FAULTS: Partial<Record<ErrorCode, string>> = {
  storage_full: 'the disk is full; nothing was saved, and the same request may be sent again',
  storage_failed: 'nothing was saved; the same request may be sent again',
  engine_closing: 'the engine is stopping; the same request may be sent again',
};

/**
 * An error as problem details (RFC 9457): `type`, `title`, `status`, `detail` and our stable `code`. Faults of our own
 * say nothing about this machine, because their messages may hold paths. `extra` adds headers (Allow, Retry-After).
 */
export function problemAnswer(error: SvcError, extra: Readonly<Record<string, string>> = {}): Answer {
  const { code } = error;
  const status = toHttpStatus(code);
  const ours = status >= 500;
  const body: Record<string, unknown> = {
    type: `urn:svc:problem:${code}`,
    title: code.replaceAll('_', ' '),
    status,
    detail: ours ? (OWN_FAULTS[code] ?? 'the engine failed; its log says why') : error.message,
    code,
  };
  if (!ours && error.hint !== undefined && !HINTS_KEPT.includes(code)) body.hint = error.hint;
  for (const name of EXTENSIONS) {
    if (!ours && error.data[name] !== undefined) body[name] = error.data[name];
  }
  return {
    status,
    headers: { 'content-type': 'application/problem+json', ...extra },
    body: JSON.stringify(body),
    code,
    taskId: null,
  };
}
