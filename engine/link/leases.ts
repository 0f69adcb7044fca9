import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { LeaseFacts } from '../core/access/index.ts';
import { backoffMs } from '../core/base/backoff.ts';
import type { Clock } from '../core/base/clock.ts';
import { createDueTimer } from '../core/base/due-timer.ts';
import { asSvcError, type ErrorCode, SvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { readPrivate, replacePrivate } from '../core/base/private-files.ts';
import { type LeaseClaims, readEntitlements, verifyLease } from '../core/link-protocol/lease.ts';
import { deriveLeaseKey, SHORTEST_ROOT_SECRET } from '../core/link-protocol/root-key.ts';
import { FIRST_CALL_MS } from './server-calls.ts';

// The lease of a workspace: fetched every six hours, kept in a file, and judged by a clock that the server has corrected. It is
// an operator's rule for machines that cooperate; whoever owns the machine can change the program.

const RENEW_MS = 6 * 3600_000;
const RETRY = { firstMs: 60_000, longestMs: 3600_000, shortestMs: 10_000 };
/** The time that has passed is written down when it is so much more than what is written, ms. */
const NOTED_MS = 10 * 60_000;
const LARGEST_FILE = 64 * 1024;

/** Where a workspace is linked, and the key of leases that was pinned then. */
export interface LeaseLink {
  /** The server's origin. */
  server: string;
  workspaceId: string;
  /** The `x` of its JWK. */
  leaseKey: string;
}

/** What the server answers to a question for a lease. */
export type FetchedLease = { lease: string } | { isRevoked: true };

export interface LeasesDeps {
  /** Where it is kept. */
  file: string;
  clock: Clock;
  /** `SVC_LEASE_SECRET`, where the workspace has it. */
  secret: string | undefined;
  /** Null while it is not linked. */
  link(): LeaseLink | null;
  /** Asks the server; the nonce has to come back in the lease. Throws `server_unreachable`. */
  fetchLease(nonce: string): Promise<FetchedLease>;
  log: Log;
  random?(): number;
}

export interface Leases {
  /** Reads what is kept. */
  read(): Promise<void>;
  /** Begins to renew it, once that was read and the link is kept. */
  start(): void;
  view(): LeaseFacts;
  /** Asks the server now: the `refresh` of its commands, and after linking. `failure` is the code of why it gave none. */
  refresh(): Promise<LeaseFacts & { failure: ErrorCode | null }>;
  /** Forgets it: the workspace was unlinked, or its token revoked. */
  drop(state: 'none' | 'revoked'): void;
  close(): Promise<void>;
}

const stored = z.object({
  lease: z.string(),
  offset_ms: z.number(),
  /** The newest time of the server that was seen. */
  server_time: z.number(),
  /** The newest corrected time that was seen since then. */
  seen_time: z.number(),
});

export function createLeases(deps: LeasesDeps): Leases {
  const { clock, log, file, random = Math.random } = deps;
  const closing = new AbortController();
  // Due by whichever comes first: one stands still while the machine sleeps, the other may be set back.
  const waits = [clock.monotonic, clock.now].map((now) => ({
    now,
    timer: createDueTimer({ clock: { now }, onDue: () => void renew() }),
  }));
  const renewAfter = (ms: number | null): void => {
    for (const { now, timer } of waits) timer.sleepUntil(ms === null ? null : now() + ms);
  };
  const ownKey =
    deps.secret !== undefined && Buffer.byteLength(deps.secret) >= SHORTEST_ROOT_SECRET
      ? deriveLeaseKey(deps.secret)
      : null;
  let kept: z.output<typeof stored> | null = null;
  let claims: LeaseClaims | null = null;
  let missing: 'none' | 'invalid' | 'revoked' = 'none';
  let problem: string | null =
    deps.secret === undefined || deps.secret === '' || ownKey !== null
      ? null
      : `SVC_LEASE_SECRET has fewer than ${SHORTEST_ROOT_SECRET} bytes`;
  let failures = 0;
  let renewing: Promise<ErrorCode | null> | null = null;
  let first: NodeJS.Timeout | undefined;

  const expectedOf = ({ server, workspaceId, leaseKey }: LeaseLink) => ({
    publicKey: ownKey?.publicKey ?? leaseKey,
    issuer: server,
    workspace: workspaceId,
  });

  /** The local clock, corrected, and never before what was seen already: a clock turned back revives nothing. */
  const now = (): number =>
    kept === null ? clock.now() : Math.max(kept.server_time, kept.seen_time, clock.now() + kept.offset_ms);

  function save(): void {
    try {
      replacePrivate(file, `${JSON.stringify(kept)}\n`, { isDurable: true });
    } catch (error) {
      log.warn({ error: asSvcError(error).message }, 'the lease was not saved');
    }
  }

  function noteTime(): void {
    if (kept === null) return;
    const seen = now();
    if (seen - kept.seen_time < NOTED_MS) return;
    kept = { ...kept, seen_time: seen };
    save();
  }

  function drop(state: 'none' | 'invalid' | 'revoked'): void {
    kept = null;
    claims = null;
    missing = state;
    try {
      rmSync(file, { force: true });
    } catch (error) {
      log.warn({ error: asSvcError(error).message }, 'the invalid lease was not removed');
    }
  }

  async function readKept(): Promise<void> {
    const link = deps.link();
    if (link === null) return;
    try {
      const text = readPrivate(file, LARGEST_FILE);
      if (text === null) return;
      const read = stored.parse(JSON.parse(text));
      claims = await verifyLease(read.lease, expectedOf(link));
      kept = read;
    } catch (error) {
      problem = asSvcError(error).message;
      missing = 'invalid';
      log.warn({ error: problem }, 'the stored lease is invalid');
    }
  }

  /** One question to the server. Throws what it throws, and `lease_invalid`. */
  async function fetchOnce(link: LeaseLink): Promise<void> {
    const nonce = randomBytes(16).toString('base64url');
    const answer = await deps.fetchLease(nonce);
    // What was asked for a former link says nothing of this one.
    if (closing.signal.aborted || !isDeepStrictEqual(deps.link(), link)) return;
    if ('isRevoked' in answer) {
      drop('revoked');
      problem = 'the server has revoked the link of this workspace';
      return;
    }
    let verified: LeaseClaims;
    try {
      verified = await verifyLease(answer.lease, expectedOf(link));
      // One that answers an earlier question would set the clock back.
      if (verified.nonce !== nonce) throw new SvcError('lease_invalid', 'lease rejected: nonce mismatch');
    } catch (error) {
      // What was verified before goes on until it ends.
      if (claims === null) missing = 'invalid';
      throw error;
    }
    // Its nonce proves that it was made just now: also a server whose clock was ahead before is believed.
    const serverTime = verified.iat * 1000;
    claims = verified;
    problem = null;
    kept = {
      lease: answer.lease,
      offset_ms: verified.iat * 1000 - clock.now(),
      server_time: serverTime,
      seen_time: serverTime,
    };
    save();
  }

  /** Resolves with the code of why the server gave none. */
  async function renewOnce(): Promise<ErrorCode | null> {
    noteTime();
    const link = deps.link();
    if (link === null) {
      renewAfter(null);
      return null;
    }
    let failure: ErrorCode | null = null;
    try {
      await fetchOnce(link);
      failures = 0;
    } catch (thrown) {
      const error = asSvcError(thrown);
      failures += 1;
      failure = error.code;
      problem = error.message;
      log.warn({ error: problem }, 'the lease was not renewed');
    }
    const pause = failures === 0 ? RENEW_MS : backoffMs(failures, { ...RETRY, random });
    // A revoked link is asked about no more; linking again starts anew.
    renewAfter(missing === 'revoked' && claims === null ? null : pause);
    return failure;
  }

  function renew(): Promise<ErrorCode | null> {
    renewing ??= renewOnce().finally(() => {
      renewing = null;
    });
    return renewing;
  }

  function view(): LeaseFacts {
    const at = now();
    const endsAt = claims === null ? null : claims.exp * 1000;
    const isOver = endsAt !== null && at >= endsAt;
    if (isOver) {
      noteTime();
      // The clock may have been set forward, which the server knows better; where it did not answer, the timer asks again.
      if (failures === 0 && deps.link() !== null && !closing.signal.aborted) void renew();
    }
    const facts = {
      entitlements: claims === null ? null : readEntitlements(claims),
      endsAt,
      leftMs: endsAt === null ? null : Math.max(0, endsAt - at),
      clockOffsetMs: kept?.offset_ms ?? null,
      problem,
    };
    if (endsAt !== null && !isOver) return { ...facts, state: 'valid', from: 'server' };
    // Whoever has the secret may make leases; one made for itself would prove nothing more.
    if (ownKey !== null)
      return { ...facts, state: 'valid', from: 'secret', endsAt: null, leftMs: null, problem: null };
    if (isOver) return { ...facts, state: 'expired', from: 'server' };
    return { ...facts, state: missing, from: null };
  }

  return {
    read: readKept,
    start() {
      if (deps.link() !== null) first = setTimeout(() => void renew(), FIRST_CALL_MS).unref();
    },
    view,
    async refresh() {
      // One that is under way may have been answered before what is to be known changed.
      await renewing;
      const failure = await renew();
      return { ...view(), failure };
    },
    drop(state) {
      drop(state);
      problem = null;
      renewAfter(null);
    },
    async close() {
      closing.abort();
      clearTimeout(first);
      for (const { timer } of waits) timer.close();
      await renewing;
    },
  };
}
