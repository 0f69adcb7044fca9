import type { Caller } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import {
  chairAddress,
  isOwnSeat,
  projectOfAddress,
  type SessionPeers,
} from '../../workers/sessions/index.ts';

/** The recipient of a question. */
export interface Addressee {
  /** A session, or the Chair's seat. */
  to: string;
  /** The project whose Chair is asked; null for the workspace's own. */
  project: string | null;
}

export interface AddresseeDeps {
  peers: Pick<SessionPeers, 'find' | 'known'>;
  /** Finds the registered project of that id; null for the workspace's own. Throws `unknown_project`. */
  projectId(id: string): string | null;
}

/** Resolves the recipient: the named session, otherwise the Chair of the named project, otherwise of the caller's project. */
export function resolveAddressee(
  wish: { to_session?: string | undefined; to_project?: string | undefined },
  caller: Caller,
  deps: AddresseeDeps,
): Addressee {
  const addressChair = (project: string | null): Addressee => ({ to: chairAddress(project), project });
  const { to_session: session, to_project: project } = wish;
  if (session !== undefined) return resolveNamedSession(session, caller, deps, addressChair);
  if (project !== undefined) return addressChair(deps.projectId(project));
  const own = caller.sessionId === null ? null : deps.peers.find(caller.sessionId);
  return addressChair(own === null ? caller.project : own.project);
}

function resolveNamedSession(
  session: string,
  caller: Caller,
  deps: AddresseeDeps,
  chairOf: (project: string | null) => Addressee,
): Addressee {
  const seat = projectOfAddress(session);
  if (seat !== undefined) return chairOf(seat === null ? null : deps.projectId(seat));
  const peer = deps.peers.known(isOwnSeat(session, caller) ? (caller.sessionId ?? session) : session);
  const hint = sentence`omit {input.to_session} to ask the Chair; {msg.peers} lists the live sessions`;
  if (peer.sessionId === caller.sessionId) {
    throw new SvcError('fields_invalid', `to_session: ${session} cannot ask itself`, { hint });
  }
  if (peer.state === 'ended') {
    throw new SvcError('conflict', `${session} has ended and cannot answer`, { hint });
  }
  return { to: peer.sessionId, project: peer.project };
}
