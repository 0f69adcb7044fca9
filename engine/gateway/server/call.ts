import type { IncomingMessage, ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';
import type { CallOutcome, CallRow } from '../books/schema.ts';
import { findJsonMembers, type JsonMember, readJsonMember, readJsonValue } from '../json-members.ts';
import { FACES, type ProtocolFace, type ProtocolRoute } from '../protocols/index.ts';
import { estimateTokens, NO_USAGE, sumRowTokens, type TokenUsage } from '../tokens.ts';
import type { UsageBooks } from './books.ts';
import { type BudgetReservation, dayOf } from './budget.ts';
import type { Credentials } from './credentials.ts';
import type { KeyHolder } from './holders.ts';

/** One request for a model, from its body on. */
export interface GatewayCall {
  request: IncomingMessage;
  response: ServerResponse;
  route: ProtocolRoute;
  face: ProtocolFace;
  credentials: Credentials;
  holder: KeyHolder;
  body: Buffer;
  members: readonly JsonMember[];
  /** Estimated size of the body. */
  promptTokens: number;
  /** The model as requested; '' for none. */
  asked: string;
  isStream: boolean;
  /** True if the stream is a JSON list, one item after the other, as Gemini sends it without `alt=sse`. */
  isListed: boolean;
  row: CallRow;
  /** The id by which the answering service finds the call; null if it sent none. */
  requestId: string | null;
  /** By `performance.now`. */
  startedAt: number;
  client: ClientPresence;
}

/** Tracks whether a client is still connected. An AbortSignal would cost more than most of a short call. */
export class ClientPresence {
  isGone = false;
  /** Called if it disconnects before its answer is complete. */
  onGone: (() => void) | null = null;

  leave(): void {
    if (this.isGone) return;
    this.isGone = true;
    this.onGone?.();
  }
}

/** Assumed length of an answer in tokens if the request sets none. */
const USUAL_OUTPUT = 1024;
/** A request that allows more than it will receive must not lock the budget. */
const MOST_RESERVED_OUTPUT = 8192;

/** Reads the body of a request; null if it is not a JSON object. */
export function readCallBody(
  body: Buffer,
  route: ProtocolRoute,
): (Pick<GatewayCall, 'asked' | 'isStream'> & { members: JsonMember[] }) | null {
  const members = findJsonMembers(body);
  if (members === null) return null;
  const readMember = (key: string): unknown => readJsonMember(body, members, key);
  const model = route.model ?? readMember('model');
  return {
    members,
    asked: typeof model === 'string' ? model.replace(/^models\//, '') : '',
    // Counts and embeddings are never streamed, even if requested.
    isStream:
      route.kind === 'generate' &&
      (route.protocol === 'gemini' ? route.isStream : readMember('stream') === true),
  };
}

/** Returns the reservation of a call: its input, and the maximum output. */
export function estimateCall({
  body,
  members,
  face,
  promptTokens,
}: Pick<GatewayCall, 'body' | 'members' | 'face' | 'promptTokens'>): number {
  const limits = members
    .filter(({ key }) => face.outputLimits.includes(key))
    .map((member) => readJsonValue(body, member))
    .filter((value): value is number => typeof value === 'number' && value > 0);
  return promptTokens + Math.min(...limits, limits.length === 0 ? USUAL_OUTPUT : MOST_RESERVED_OUTPUT);
}

/** Headers by which clients name their conversation. */
const SESSION_HEADERS = [
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'x-session-id',
  'x-session-affinity',
];
const LONGEST_NAME = 200;

const readClientSession = ({ headers }: IncomingMessage): string | null => {
  const found = SESSION_HEADERS.map((name) => headers[name]).find((value) => typeof value === 'string');
  return typeof found === 'string' ? found.slice(0, LONGEST_NAME) : null;
};

/**
 * Identifies repeated requests, at half the cost of a cryptographic hash of a long conversation. Only used for
 * counting: no answer is looked up by it.
 */
const fingerprintBody = (body: Buffer): string => `${body.length.toString(36)}-${crc32(body).toString(36)}`;

/** Returns the row of a starting call; its input is estimated until its upstream counts. */
export function beginRow(
  books: Pick<UsageBooks, 'nextId'>,
  now: number,
  call: Pick<GatewayCall, 'request' | 'route' | 'holder' | 'body' | 'asked' | 'isStream'>,
): CallRow {
  const { holder, route } = call;
  return {
    id: books.nextId(),
    started_at: now,
    ended_at: null,
    day: dayOf(now),
    session_id: holder.kind === 'run' ? holder.sessionId : null,
    task_id: holder.kind === 'run' ? holder.taskId : null,
    person: holder.kind === 'person' ? holder.name : null,
    client_session: readClientSession(call.request),
    protocol: route.protocol,
    kind: route.kind,
    is_stream: call.isStream ? 1 : 0,
    asked_model: call.asked.slice(0, LONGEST_NAME),
    provider: null,
    model: null,
    status: null,
    outcome: 'open',
    input: 0,
    output: 0,
    cache_read: 0,
    cache_write: 0,
    cache_write_hour: 0,
    is_estimated: 0,
    reserved: 0,
    attempts: 0,
    first_byte_ms: null,
    total_ms: null,
    bytes_in: call.body.length,
    bytes_out: 0,
    prompt_hash: fingerprintBody(call.body),
    prefix_hash: null,
    tool_bytes: 0,
  };
}

export function setUsage(row: CallRow, usage: TokenUsage, isEstimated: boolean): void {
  row.input = usage.input;
  row.output = usage.output;
  row.cache_read = usage.cacheRead;
  row.cache_write = usage.cacheWrite;
  row.cache_write_hour = usage.cacheWriteHour;
  row.is_estimated = isEstimated ? 1 : 0;
}

/** Returns the usage of a call if its upstream did not report all of it. */
export function estimateUsage(
  told: TokenUsage | null,
  {
    prompt,
    bytesOut,
    events,
    isStream,
  }: { prompt: number; bytesOut: number; events: number; isStream: boolean },
): TokenUsage {
  // A stream has about one token per event.
  const output = isStream ? events : estimateTokens(bytesOut);
  return told === null
    ? { ...NO_USAGE, input: prompt, output }
    : { ...told, output: Math.max(told.output, output) };
}

/** Ends a call in the books, once. */
export function settleCall(
  { row, startedAt }: Pick<GatewayCall, 'row' | 'startedAt'>,
  { books, reservation, now }: { books: UsageBooks; reservation: BudgetReservation | null; now: number },
  { status, outcome }: { status: number; outcome: CallOutcome },
): void {
  if (row.outcome !== 'open') return;
  row.status = status;
  row.outcome = outcome;
  row.ended_at = now;
  row.total_ms = performance.now() - startedAt;
  reservation?.settle(sumRowTokens(row));
  books.note(row);
}

export const faceOf = (route: ProtocolRoute): ProtocolFace => FACES[route.protocol];
