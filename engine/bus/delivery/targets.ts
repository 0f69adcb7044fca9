import type { AgentNotify } from '../../agents/index.ts';
import { type Peer, type Peers, projectOfAddress } from '../../sessions/index.ts';
import type { MessageRow } from '../messages/rows.ts';

/** A session that is to get word of a message. */
export interface Target {
  /** The session, or the address of a Chair's seat. */
  session: string;
  agent: string | null;
  isLive: boolean;
  /** Host and port at which its agent listens; null when it has not said so, or named anything else. */
  notifyBase: string | null;
  entry: AgentNotify;
}

export interface TargetDeps {
  peers: Peers;
  entries(): Readonly<Record<string, AgentNotify>>;
  /** For agents without an entry, and for sessions that nobody knows yet. */
  fallback: AgentNotify;
  isLoopback(host: string): boolean;
}

/**
 * Whom a message is for now. Empty while it waits: for a worker that has no session, or for an agent that nobody runs.
 */
export function targetsOf(row: MessageRow, { peers, entries, fallback, isLoopback }: TargetDeps): Target[] {
  const target = (session: string, peer: Peer | null): Target => {
    const agent = peer?.agent ?? null;
    const known = entries();
    const isLive = peer?.state === 'live';
    const base = peer?.notifyBase ?? null;
    return {
      session,
      agent,
      isLive,
      // A session says this of itself: it must not be able to send others' messages off this machine,
      // nor to any other path of what listens here.
      notifyBase: isLive && base !== null ? originHere(base, isLoopback) : null,
      entry: (agent !== null && Object.hasOwn(known, agent) ? known[agent] : undefined) ?? fallback,
    };
  };
  if (row.to_session !== null) {
    const seat = projectOfAddress(row.to_session);
    return [target(row.to_session, seat === undefined ? peers.find(row.to_session) : peers.chairOf(seat))];
  }
  if (row.to_worker !== null) {
    const peer = peers.ofWorker(row.to_worker);
    return peer?.state === 'live' ? [target(peer.sessionId, peer)] : [];
  }
  return peers
    .live()
    .filter((peer) => peer.agent === row.to_agent && peer.sessionId !== row.from_session)
    .map((peer) => target(peer.sessionId, peer));
}

/** Host and port of an address of this machine; null for any other. The paths are those of the entry alone. */
function originHere(address: string, isLoopback: (host: string) => boolean): string | null {
  if (!URL.canParse(address)) return null;
  const { protocol, hostname, pathname, search, hash, username, password, origin } = new URL(address);
  const isBare = pathname === '/' && [search, hash, username, password].every((part) => part === '');
  const isHere = /^https?:$/.test(protocol) && isLoopback(hostname.replace(/^\[|\]$/g, ''));
  return isBare && isHere ? origin : null;
}
