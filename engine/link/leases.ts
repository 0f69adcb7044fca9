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

// The lease of a workspace: fetched every six hours, stored in a file, and checked with a clock that the server has
// corrected. It is an operator's rule for cooperating machines; the owner of a machine can change the program.

const RENEW_MS = 6 * 3600_000;
const RETRY = { firstMs: 60_000, longestMs: 3600_000, shortestMs: 10_000 };
/** Elapsed time is recorded when it exceeds the recorded time by this much, ms. */
const NOTED_MS = 10 * 60_000;
const LARGEST_FILE = 64 * 1024;

/** The linked server of a workspace, and the lease key pinned at linking. */
export interface LeaseLink {
  /** The server's origin. */
  server: string;
  workspaceId: string;
  /** The `x` of its JWK. */
  leaseKey: string;
}

/** The server's answer to a lease request. */
export type FetchedLease = { lease: string } | { isRevoked: true };

export interface LeasesDeps {
  /** The file of the lease. */
  file: string;
  clock: Clock;
  /** `SVC_LEASE_SECRET`, if the workspace has it. */
  secret: string | undefined;
  /** Returns null while it is not linked. */
  link(): LeaseLink | null;
  /** Calls the server; the lease must contain the nonce. Throws `server_unreachable`. */
  fetchLease(nonce: string): Promise<FetchedLease>;
  log: Log;
  random?(): number;
}

export interface AccountLeases {
  /** Reads the stored lease. */
  read(): Promise<void>;
  /** Starts renewing, once the lease was read and the link is stored. */
  start(): void;
  view(): LeaseFacts;
  /** Requests a lease now: for the `refresh` command, and after linking. `failure` is the code of a failure. */
  refresh(): Promise<LeaseFacts & { failure: ErrorCode | null }>;
  /** Forgets the lease: the workspace was unlinked, or its token revoked. */
  drop(state: 'none' | 'revoked'): void;
  close(): Promise<void>;
}

const stored = z.object({
  lease: z.string(),
  offset_ms: z.number(),
  /** The newest server time that was seen. */
  server_time: z.number(),
  /** The newest corrected time since then. */
  seen_time: z.number(),
});

export function createLeases(deps: LeasesDeps): AccountLeases {
  const { clock, log, file, random = Math.random } = deps;
  const closing = new AbortController();
  // Due by the earlier of two clocks: one stops while the machine sleeps, the other may be set back.
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

  /** Returns the local clock, corrected, and never earlier than a time already seen: setting a clock back revives nothing. */
  const now = (): number =>
    kept === null ? clock.now() : Math.max(kept.server_time, kept.seen_time, clock.now() + kept.offset_ms);

  function saveLeases(): void {
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
    saveLeases();
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

  /** Sends one request to the server. Throws its errors, and `lease_invalid`. */
  async function fetchOnce(link: LeaseLink): Promise<void> {
    const nonce = randomBytes(16).toString('base64url');
    const answer = await deps.fetchLease(nonce);
    // A request for a former link is irrelevant for this one.
    if (closing.signal.aborted || !isDeepStrictEqual(deps.link(), link)) return;
    if ('isRevoked' in answer) {
      drop('revoked');
      problem = 'the server has revoked the link of this workspace';
      return;
    }
    let verified: LeaseClaims;
    try {
      verified = await verifyLease(answer.lease, expectedOf(link));
      // A lease for an earlier request would set the clock back.
      if (verified.nonce !== nonce) throw new SvcError('lease_invalid', 'lease rejected: nonce mismatch');
    } catch (error) {
      // An earlier verified lease stays valid until it ends.
      if (claims === null) missing = 'invalid';
      throw error;
    }
    // Its nonce proves that it was created just now: even a server whose clock was ahead before is trusted.
    const serverTime = verified.iat * 1000;
    claims = verified;
    problem = null;
    kept = {
      lease: answer.lease,
      offset_ms: verified.iat * 1000 - clock.now(),
      server_time: serverTime,
      seen_time: serverTime,
    };
    saveLeases();
  }

  /** Resolves with the code of a failure. */
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
    // A revoked link is not requested again; linking again restarts it.
    renewAfter(missing === 'revoked' && claims === null ? null : pause);
    return failure;
  }

  function renew(): Promise<ErrorCode | null> {
    renewing ??= renewOnce().finally(() => {
      renewing = null;
    });
    return renewing;
  }

  function viewLeases(): LeaseFacts {
    const at = now();
    const endsAt = claims === null ? null : claims.exp * 1000;
    const isOver = endsAt !== null && at >= endsAt;
    if (isOver) {
      noteTime();
      // The local clock may have been set forward, and the server knows better; if it did not answer, the timer retries.
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
    // The owner of the secret may create leases; a self-made one would prove nothing more.
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
    view: viewLeases,
    async refresh() {
      // A request in progress may have been answered before the change.
      await renewing;
      const failure = await renew();
      return { ...viewLeases(), failure };
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
