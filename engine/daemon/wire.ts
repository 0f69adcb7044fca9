import { asSvcError, isErrorCode, SvcError } from '../core/base/errors.ts';
import { readParts, Sentence } from '../core/base/sentence.ts';

/** Version of the socket's own methods; a client of another one is asked to update. */
export const PROTOCOL = 2;

/** JSON-RPC's code for an error of ours; the stable word is in `data.code`. */
export const APPLICATION_ERROR = -32000;

/** Sent first on every connection. */
export interface HelloMessage {
  protocol: number;
  /** The caller's process. */
  pid: number;
  actor: string;
  via: 'cli' | 'tui' | 'tool';
  /** The run mark of a worker's own processes, if the caller has one. */
  runId: string | null;
  /** The caller's working folder, which determines whose project's Chair it can be. */
  cwd: string;
  /** True if the caller stays and joins: a Chair gets its own session. */
  attends: boolean;
  env: Record<string, string>;
}

export interface WelcomeMessage {
  pid: number;
  version: string;
  root: string;
  /** The data folder, absolute. */
  data: string;
  workspace: string;
  seat: 'chair' | 'worker' | 'plain';
  /** The caller's session; null for none. */
  sessionId: string | null;
  /** Identifies the event log; a resume point is only valid for the same log. */
  logId: string;
  lastSeq: number;
}

/**
 * An error on the socket. A hint is included as text; with operations in it, also in a form into which a client puts
 * its own names.
 */
export function errorToWire(thrown: unknown): {
  code: number;
  message: string;
  data: Record<string, unknown>;
} {
  const { code, message, hint, data } = asSvcError(thrown);
  return {
    code: APPLICATION_ERROR,
    message,
    data: {
      ...data,
      code,
      ...(hint === undefined ? {} : { hint: String(hint) }),
      ...(hint instanceof Sentence ? { hint_parts: hint.parts } : {}),
    },
  };
}

export function errorFromWire(error: { message: string; data?: unknown }): SvcError {
  const { code, hint, hint_parts, ...data } = (error.data ?? {}) as Record<string, unknown>;
  const said = readParts(hint_parts) ?? (typeof hint === 'string' ? hint : undefined);
  return new SvcError(isErrorCode(code) ? code : 'internal', error.message, {
    ...(said === undefined ? {} : { hint: said }),
    data,
  });
}
