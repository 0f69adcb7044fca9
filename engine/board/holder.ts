import { z } from 'zod';
import type { Peers } from '../bus/peers.ts';
import { SvcError } from '../errors.ts';
import type { Caller } from '../operation.ts';
import type { EventInput } from '../storage/index.ts';

// What locks and claims have in common: sessions hold them, for a time.

/** No session's id has other characters, and a terminal can show them all. */
const isSessionId = (text: string): boolean => /^[A-Za-z0-9][\w.@-]{0,99}$/.test(text);

/** Whoever holds it; `*` of a claim that is released. */
export const ANY = '*';

// Checked by `refine`, which is no part of the schema that agents read and pay for.
export const holder = z
  .string()
  .refine(isSessionId, 'expected a session id such as s-12')
  .describe('Your session id (SVC_SESSION).');
export const holderOrAny = z
  .string()
  .refine((text) => text === ANY || isSessionId(text), 'expected a session id such as s-12, or *')
  .describe('Your session id; * is whoever has it.');

export const ttl = (minutes: number) =>
  z.int().min(1).max(1440).default(minutes).describe('Minutes it holds.');

/** Workers and plain sessions hold for themselves only. Throws `holder_mismatch`. */
export function checkSpeaksFor(caller: Caller, holder: string): void {
  const { seat, sessionId } = caller;
  if (seat === 'chair' || holder === sessionId) return;
  throw new SvcError('holder_mismatch', `${sessionId ?? `a ${seat} session`} cannot act for ${holder}`, {
    hint: sessionId === null ? 'set SVC_SESSION to a name of your own' : `give ${sessionId} as holder`,
    data: { session: sessionId, holder },
  });
}

/** Who is known to be gone can hold nothing more. Throws `conflict`. */
export function checkNotEnded(peers: Pick<Peers, 'find'>, holder: string): void {
  const peer = peers.find(holder);
  if (peer?.state !== 'ended') return;
  throw new SvcError('conflict', `session ${holder} has ended and cannot hold anything`, {
    hint:
      peer.seat === 'plain'
        ? `with SVC_SESSION=${holder} it takes part again; or give the id of a live session`
        : 'give the id of a live session',
    data: { holder },
  });
}

/** The session and task that an event about a holder belongs to. */
export function aboutHolder(
  peers: Pick<Peers, 'find'>,
  holder: string,
): Pick<EventInput, 'sessionId' | 'taskId'> {
  const peer = peers.find(holder);
  return peer?.seat === 'worker' ? { sessionId: peer.sessionId, taskId: peer.taskId } : {};
}
