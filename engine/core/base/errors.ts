import type { SentenceWords } from './sentence.ts';

/**
 * The only list of failures. A code is a stable snake_case name; the table maps it to an HTTP status (RFC 9457) and
 * to the command line's exit code. Receiver, tools and command line all use this table. The meaning and the remedy of
 * each code are in error-meanings.ts.
 */

/** Exit codes of the command line. */
export const EXIT = { failure: 1, usage: 2, denied: 3, notFound: 4, conflict: 5 } as const;

type Entry = readonly [http: number, exit: number];

const usage = (http: number): Entry => [http, EXIT.usage];
const denied = (http: number): Entry => [http, EXIT.denied];
const notFound: Entry = [404, EXIT.notFound];
const conflict: Entry = [409, EXIT.conflict];
const failure = (http: number): Entry => [http, EXIT.failure];

export const CODES = {
  // invalid requests
  usage: usage(400),
  body_invalid: usage(400),
  fields_invalid: usage(422),
  unknown_template: usage(422),
  unknown_agent: usage(422),
  unknown_project: usage(422),
  no_runner: usage(422),
  runner_unsupported: usage(422),
  unsupported_encoding: usage(415),
  body_too_large: usage(413),
  method_not_allowed: usage(405),
  config_invalid: usage(422),
  address_refused: usage(422),
  // identity and permissions of the caller
  signature_invalid: denied(401),
  timestamp_out_of_range: denied(401),
  token_invalid: denied(401),
  host_refused: denied(403),
  too_many_failures: denied(429),
  chair_only: denied(403),
  actor_denied: denied(403),
  approval_required: denied(403),
  ledger_gate: denied(403),
  lock_denied: denied(403),
  holder_mismatch: denied(403),
  path_outside: denied(403),
  unverified: denied(403),
  consent_missing: denied(403),
  trust_missing: denied(403),
  share_missing: denied(403),
  data_folder_unknown: denied(403),
  owner_untrusted: denied(403),
  limit_reached: denied(429),
  revoked: denied(401),
  remote_untrusted: denied(403),
  capability_locked: denied(403),
  lease_required: denied(403),
  lease_invalid: denied(403),
  quota_exceeded: denied(403),
  // missing things
  not_found: notFound,
  expired: [410, EXIT.notFound],
  no_workspace: notFound,
  not_linked: notFound,
  engine_not_running: notFound,
  // conflicts
  conflict,
  inputs_changed: conflict,
  replayed: conflict,
  already_decided: conflict,
  already_running: conflict,
  displaced: conflict,
  login_refused: denied(403),
  idempotency_conflict: conflict,
  promote_conflict: conflict,
  checkout_dirty: conflict,
  worktree_unsafe: conflict,
  address_in_use: conflict,
  cancelled: conflict,
  exists: conflict,
  lock_held: conflict,
  item_held: conflict,
  ask_closed: conflict,
  // local problems
  gateway_unreachable: failure(503),
  gateway_unroutable: failure(422),
  answer_invalid: failure(502),
  protocol_mismatch: failure(426),
  budget_exceeded: denied(403),
  not_a_repository: failure(422),
  repository_empty: failure(422),
  git_failed: failure(500),
  agent_not_found: failure(422),
  spawn_failed: failure(500),
  program_failed: failure(502),
  setup_failed: failure(500),
  remote_session: failure(409),
  runner_unreachable: failure(503),
  broker_unreachable: failure(503),
  join_invalid: failure(403),
  bundle_refused: failure(502),
  secret_missing: failure(500),
  storage_failed: failure(503),
  storage_full: failure(507),
  storage_newer: failure(500),
  key_mismatch: failure(500),
  storage_unsafe: failure(500),
  engine_unreachable: failure(503),
  engine_closing: failure(503),
  tool_missing: failure(500),
  confinement_unavailable: failure(500),
  server_unreachable: failure(502),
  internal: failure(500),
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof CODES;

export interface SvcErrorOptions {
  cause?: unknown;
  /** The remedy in one sentence. */
  hint?: SentenceWords;
  /** Facts for programs: ids, paths, fields. */
  data?: Record<string, unknown>;
}

/** Messages repeat a caller's input, but not megabytes of it. */
const LONGEST_MESSAGE = 8000;
const clipText = (text: string): string =>
  text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text;

/** The only error class. `message` states the event and the id; `hint` gives the remedy. */
export class SvcError extends Error {
  readonly code: ErrorCode;
  readonly hint: SentenceWords | undefined;
  readonly data: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, options: SvcErrorOptions = {}) {
    super(clipText(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'SvcError';
    this.code = code;
    this.hint = options.hint;
    this.data = options.data ?? {};
  }
}

export const toHttpStatus = (code: ErrorCode): number => CODES[code][0];
export const toExitCode = (code: ErrorCode): number => CODES[code][1];
export const isErrorCode = (word: unknown): word is ErrorCode =>
  typeof word === 'string' && Object.hasOwn(CODES, word);

/** A failure as a part of a successful answer. */
export interface ProblemDetails {
  code: ErrorCode;
  message: string;
  hint: string | null;
}

/** Converts a thrown value to a problem; internal errors are rethrown. */
export function toProblem(thrown: unknown): ProblemDetails {
  if (!(thrown instanceof SvcError)) throw thrown;
  const { code, message, hint } = thrown;
  return { code, message, hint: hint === undefined ? null : String(hint) };
}

/** Converts any thrown value to an SvcError; internal errors become `internal` and keep their cause. */
export function asSvcError(thrown: unknown): SvcError {
  if (thrown instanceof SvcError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new SvcError('internal', message, { cause: thrown });
}
