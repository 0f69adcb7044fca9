import { asSvcError, isErrorCode, SvcError } from '../core/base/errors.ts';
import { readParts, Sentence } from '../core/base/sentence.ts';

/** Version of the socket's own methods; a client of another one is told to update. */
export const PROTOCOL = 2;

/** JSON-RPC's code for an error of ours; the stable word is in `data.code`. */
export const APPLICATION_ERROR = -32000;

/** Sent first on every connection. */
export interface Hello {
  protocol: number;
  /** The caller's process. */
  pid: number;
  actor: string;
  via: 'cli' | 'tui' | 'tool';
  /** The run mark of a worker's own processes, when the caller has one. */
  runId: string | null;
  /** The caller's working folder, which decides whose project's Chair it can be. */
  cwd: string;
  /** The caller stays and takes part: a Chair gets a session of its own. */
  attends: boolean;
  env: Record<string, string>;
}

export interface Welcome {
  pid: number;
  version: string;
  root: string;
  /** The data folder, absolute. */
  data: string;
  workspace: string;
  seat: 'chair' | 'worker' | 'plain';
  /** The caller's session; null for none. */
  sessionId: string | null;
  /** Names the event log; a resume point counts only for the same log. */
  logId: string;
  lastSeq: number;
}

/** An error as it goes over the socket. A hint is there as text; with operations in it, also as what a client puts its own words into. */
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
