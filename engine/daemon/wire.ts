import { asSvcError, isErrorCode, SvcError } from '../base/errors.ts';

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

export function errorToWire(thrown: unknown): {
  code: number;
  message: string;
  data: Record<string, unknown>;
} {
  const error = asSvcError(thrown);
  return {
    code: APPLICATION_ERROR,
    message: error.message,
    data: { ...error.data, code: error.code, ...(error.hint === undefined ? {} : { hint: error.hint }) },
  };
}

export function errorFromWire(error: { message: string; data?: unknown }): SvcError {
  const { code, hint, ...data } = (error.data ?? {}) as Record<string, unknown>;
  return new SvcError(isErrorCode(code) ? code : 'internal', error.message, {
    ...(typeof hint === 'string' ? { hint } : {}),
    data,
  });
}
