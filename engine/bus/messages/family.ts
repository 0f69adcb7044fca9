import { chairAddress, type SessionPeer, type SessionPeers } from '../../workers/sessions/index.ts';

/** The parent, children and siblings of a session. */
export interface TaskFamily {
  /** The session that dispatched it while that is live, otherwise the Chair's seat of its project; null for a Chair. */
  parentOf(peer: SessionPeer): string | null;
  childrenOf(peer: SessionPeer): SessionPeer[];
  /** Live ones under the same parent; for a Chair, the other Chairs of its project. */
  siblingsOf(peer: SessionPeer): SessionPeer[];
}

export function createFamily(peers: SessionPeers): TaskFamily {
  function findDispatcher(peer: SessionPeer): SessionPeer | null {
    return peer.parent === null ? null : peers.find(peer.parent);
  }

  function parentOf(peer: SessionPeer): string | null {
    if (peer.seat === 'chair') return null;
    const parent = findDispatcher(peer);
    if (parent?.state === 'live') return parent.sessionId;
    return chairAddress(parent?.seat === 'chair' ? parent.project : peer.project);
  }

  /** The parent that siblings share: a Chair's session and its seat count as one. */
  function findHousehold(peer: SessionPeer): string | null {
    const parent = findDispatcher(peer);
    return parent?.seat === 'chair' ? chairAddress(parent.project) : parentOf(peer);
  }

  const listOthers = (peer: SessionPeer): SessionPeer[] =>
    peers.live().filter((each) => each.sessionId !== peer.sessionId);

  return {
    parentOf,
    childrenOf: (peer) =>
      listOthers(peer).filter((each) => {
        const parent = parentOf(each);
        return parent === peer.sessionId || (peer.seat === 'chair' && parent === chairAddress(peer.project));
      }),
    siblingsOf: (peer) =>
      listOthers(peer).filter((each) =>
        peer.seat === 'chair'
          ? each.seat === 'chair' && each.project === peer.project
          : each.seat !== 'chair' && findHousehold(each) === findHousehold(peer),
      ),
  };
}
