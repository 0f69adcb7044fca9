import { z } from 'zod';
import type { Caller } from '../core/api/operation.ts';
import { SvcError } from '../core/base/errors.ts';
import type { EventInput } from '../storage/index.ts';
import { chairAddress, isOwnSeat, projectOfAddress, type SessionPeers } from '../workers/sessions/index.ts';

// Shared by locks and claims, which sessions hold for a limited time.

/** Session ids have only these characters, which are all printable. */
const isSessionId = (text: string): boolean => /^[A-Za-z0-9][\w.@-]{0,99}$/.test(text);

/** Any holder, when a claim is released. */
export const ANY = '*';

// Checked by `refine`, which does not add to the schema that agents read and pay for.
export const holder = z
  .string()
  .refine(isSessionId, 'expected a session id such as s-12')
  .describe('Your session id, or me.');
export const holderOrAny = z
  .string()
  .refine((text) => text === ANY || isSessionId(text), 'expected a session id such as s-12, or *')
  .describe('Your session id, or me; * is any holder.');

export const ttlInput = (minutes: number) =>
  z.int().min(1).max(1440).default(minutes).describe('Minutes until it expires.');

/** The lookups that resolving a holder needs. */
export type HolderPeers = Pick<SessionPeers, 'find' | 'known' | 'chairOf'>;

/**
 * Resolves the session that a caller names as holder. `me`, and `chair` for a Chair, mean the caller's own seat; a
 * person in it has no session, and holds as the Chair that is present. Workers and plain sessions hold only for
 * themselves. Throws `holder_mismatch`.
 */
export function resolveHolder(named: string, caller: Caller, peers: HolderPeers): string {
  const { seat, sessionId, project } = caller;
  if (isOwnSeat(named, caller)) {
    if (sessionId !== null) return sessionId;
    if (seat === 'chair') return peers.chairOf(project)?.sessionId ?? chairAddress(project);
  }
  if (seat === 'chair' || named === sessionId) return named;
  throw new SvcError('holder_mismatch', `${sessionId ?? `a ${seat} session`} cannot act for ${named}`, {
    hint:
      sessionId === null ? 'set SVC_SESSION to your own session name' : `give ${sessionId} as holder, or me`,
    data: { session: sessionId, holder: named },
  });
}

/** As `resolveHolder`, for a new lock or claim. Throws `not_found` for a session that never existed. */
export function resolveNewHolder(named: string, caller: Caller, peers: HolderPeers): string {
  const holder = resolveHolder(named, caller, peers);
  if (holder !== caller.sessionId && projectOfAddress(holder) === undefined) peers.known(holder);
  return holder;
}

/**
 * Reports whether `holder`'s locks or claims belong to the caller. A person, and the hooks of a Chair's agent, have
 * the Chair seat without a session: a Chair's may be theirs, so they count as their own.
 */
export function holdsForCaller(
  holder: string,
  { seat, sessionId }: Pick<Caller, 'seat' | 'sessionId'>,
  peers: Pick<SessionPeers, 'find'>,
): boolean {
  if (sessionId !== null) return holder === sessionId;
  if (seat !== 'chair') return false;
  return projectOfAddress(holder) !== undefined || peers.find(holder)?.seat === 'chair';
}

/** Throws `conflict` for a session that has ended, which cannot hold anything. */
export function checkNotEnded(peers: Pick<SessionPeers, 'find'>, holder: string): void {
  const peer = peers.find(holder);
  if (peer?.state !== 'ended') return;
  throw new SvcError('conflict', `session ${holder} has ended and cannot hold anything`, {
    hint:
      peer.seat === 'plain'
        ? `SVC_SESSION=${holder} makes it live again; or give the id of a live session`
        : 'give the id of a live session',
    data: { holder },
  });
}

/** Returns the session and task that an event about a holder belongs to. */
export function findEventScope(
  peers: Pick<SessionPeers, 'find'>,
  holder: string,
): Pick<EventInput, 'sessionId' | 'taskId'> {
  const peer = peers.find(holder);
  return peer?.seat === 'worker' ? { sessionId: peer.sessionId, taskId: peer.taskId } : {};
}
