import type { AgentNotify } from '../../workers/agents/index.ts';
import { projectOfAddress, type SessionPeer, type SessionPeers } from '../../workers/sessions/index.ts';
import type { MessageRow } from '../messages/rows.ts';

/** A session to be notified of a message. */
export interface NoticeTarget {
  /** The session, or the address of a Chair's seat. */
  session: string;
  agent: string | null;
  isLive: boolean;
  /** Origin at which its agent listens; null if it named none, or one that is not on this machine. */
  notifyBase: string | null;
  entry: AgentNotify;
}

export interface TargetDeps {
  peers: SessionPeers;
  entries(): Readonly<Record<string, AgentNotify>>;
  /** For agents without an entry, and for unknown sessions. */
  fallback: AgentNotify;
  isLoopback(host: string): boolean;
}

/** Finds the current target sessions of a message. Empty while it waits for its worker, or its agent, to have a live one. */
export function findTargets(
  row: MessageRow,
  { peers, entries, fallback, isLoopback }: TargetDeps,
): NoticeTarget[] {
  const buildTarget = (session: string, peer: SessionPeer | null): NoticeTarget => {
    const agent = peer?.agent ?? null;
    const known = entries();
    const isLive = peer?.state === 'live';
    const base = peer?.notifyBase ?? null;
    return {
      session,
      agent,
      isLive,
      // The session names this address itself: it must not be able to send others' messages off this machine, nor to
      // another path of a local server.
      notifyBase: isLive && base !== null ? readLoopbackOrigin(base, isLoopback) : null,
      entry: (agent !== null && Object.hasOwn(known, agent) ? known[agent] : undefined) ?? fallback,
    };
  };
  if (row.to_session !== null) {
    const seat = projectOfAddress(row.to_session);
    return [
      buildTarget(row.to_session, seat === undefined ? peers.find(row.to_session) : peers.chairOf(seat)),
    ];
  }
  if (row.to_worker !== null) {
    const peer = peers.ofWorker(row.to_worker);
    return peer?.state === 'live' ? [buildTarget(peer.sessionId, peer)] : [];
  }
  return peers
    .live()
    .filter((peer) => peer.agent === row.to_agent && peer.sessionId !== row.from_session)
    .map((peer) => buildTarget(peer.sessionId, peer));
}

/** Returns the origin of a loopback URL without a path; null for any other. Paths come from the entry only. */
function readLoopbackOrigin(address: string, isLoopback: (host: string) => boolean): string | null {
  if (!URL.canParse(address)) return null;
  const { protocol, hostname, pathname, search, hash, username, password, origin } = new URL(address);
  const isBare = pathname === '/' && [search, hash, username, password].every((part) => part === '');
  const isHere = /^https?:$/.test(protocol) && isLoopback(hostname.replace(/^\[|\]$/g, ''));
  return isBare && isHere ? origin : null;
}
