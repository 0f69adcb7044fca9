import { asSvcError, SvcError } from '../core/base/errors.ts';
import { leaseAnswer } from '../core/link-protocol/messages.ts';
import type { FetchedLease } from './held-lease.ts';
import type { ServerCalls } from './server-calls.ts';

/** Requests a lease from the linked server, with the token of the workspace. Throws `server_unreachable`. */
export async function fetchLease(calls: ServerCalls | null, nonce: string): Promise<FetchedLease> {
  if (calls === null) throw new SvcError('server_unreachable', 'the workspace is not linked');
  try {
    return await calls.call(`/v1/lease?${new URLSearchParams({ nonce })}`, { answer: leaseAnswer });
  } catch (error) {
    if (asSvcError(error).code === 'revoked') return { isRevoked: true };
    throw error;
  }
}
