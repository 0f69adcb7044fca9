import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { LeaseFacts } from '../core/access/index.ts';
import { asSvcError, SvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { type LeaseClaims, readEntitlements, verifyLease } from '../core/link-protocol/lease.ts';
import { deriveLeaseKey, SHORTEST_ROOT_SECRET } from '../core/link-protocol/root-key.ts';
import type { LeaseStore } from './lease-store.ts';

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

export interface HeldLeaseDeps {
  /** `SVC_LEASE_SECRET`, if the workspace has it. */
  secret: string | undefined;
  /** Returns null while it is not linked. */
  link(): LeaseLink | null;
  /** Calls the server; the lease must contain the nonce. Throws `server_unreachable`. */
  fetchLease(nonce: string): Promise<FetchedLease>;
  log: Log;
}

/** Holds the newest verified lease of the link, or the reason for having none. */
export function createHeldLease(deps: HeldLeaseDeps, store: LeaseStore, closing: AbortSignal) {
  const ownKey =
    deps.secret !== undefined && Buffer.byteLength(deps.secret) >= SHORTEST_ROOT_SECRET
      ? deriveLeaseKey(deps.secret)
      : null;
  let claims: LeaseClaims | null = null;
  let missing: 'none' | 'invalid' | 'revoked' = 'none';
  let problem: string | null =
    deps.secret === undefined || deps.secret === '' || ownKey !== null
      ? null
      : `SVC_LEASE_SECRET has fewer than ${SHORTEST_ROOT_SECRET} bytes`;

  const expectedOf = ({ server, workspaceId, leaseKey }: LeaseLink) => ({
    publicKey: ownKey?.publicKey ?? leaseKey,
    issuer: server,
    workspace: workspaceId,
  });

  const findEnd = (): number | null => (claims === null ? null : claims.exp * 1000);

  function drop(state: 'none' | 'revoked', why: string | null): void {
    claims = null;
    missing = state;
    problem = why;
    store.remove();
  }

  return {
    /** Reads the stored lease. */
    async read(): Promise<void> {
      const link = deps.link();
      if (link === null) return;
      try {
        const read = store.readFile();
        if (read === null) return;
        claims = await verifyLease(read.lease, expectedOf(link));
        store.adopt(read);
      } catch (error) {
        problem = asSvcError(error).message;
        missing = 'invalid';
        deps.log.warn({ error: problem }, 'the stored lease is invalid');
      }
    },
    /** Sends one request to the server. Throws its errors, and `lease_invalid`. */
    async fetchOnce(link: LeaseLink): Promise<void> {
      const nonce = randomBytes(16).toString('base64url');
      const answer = await deps.fetchLease(nonce);
      // A request for a former link is irrelevant for this one.
      if (closing.aborted || !isDeepStrictEqual(deps.link(), link)) return;
      if ('isRevoked' in answer) {
        drop('revoked', 'the server has revoked the link of this workspace');
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
      claims = verified;
      problem = null;
      // Its nonce proves that it was created just now: even a server whose clock was ahead before is trusted.
      store.keep(answer.lease, verified.iat * 1000);
    },
    setProblem(why: string): void {
      problem = why;
    },
    drop,
    isRevoked: (): boolean => missing === 'revoked' && claims === null,
    isOver(): boolean {
      const endsAt = findEnd();
      return endsAt !== null && store.now() >= endsAt;
    },
    view(): LeaseFacts {
      const at = store.now();
      const endsAt = findEnd();
      const isOver = endsAt !== null && at >= endsAt;
      if (isOver) store.noteTime();
      const facts = {
        entitlements: claims === null ? null : readEntitlements(claims),
        endsAt,
        leftMs: endsAt === null ? null : Math.max(0, endsAt - at),
        clockOffsetMs: store.offsetMs(),
        problem,
      };
      if (endsAt !== null && !isOver) return { ...facts, state: 'valid', from: 'server' };
      // The owner of the secret may create leases; a self-made one would prove nothing more.
      if (ownKey !== null)
        return { ...facts, state: 'valid', from: 'secret', endsAt: null, leftMs: null, problem: null };
      if (isOver) return { ...facts, state: 'expired', from: 'server' };
      return { ...facts, state: missing, from: null };
    },
  };
}
