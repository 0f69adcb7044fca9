import { toWireError, type WireError } from '../core/base/wire-error.ts';

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

/** Converts a thrown value to an error on the socket. */
export const errorToWire = (thrown: unknown): { code: number } & WireError => ({
  code: APPLICATION_ERROR,
  ...toWireError(thrown),
});
