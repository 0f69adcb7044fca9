import { chairAddress, type Peer, type Peers } from '../../workers/sessions/index.ts';

/** The parent, children and siblings of a session. */
export interface Family {
  /** The session that dispatched it while that is live, otherwise the Chair's seat of its project; null for a Chair. */
  parentOf(peer: Peer): string | null;
  childrenOf(peer: Peer): Peer[];
  /** Live ones under the same parent; for a Chair, the other Chairs of its project. */
  siblingsOf(peer: Peer): Peer[];
}

export function createFamily(peers: Peers): Family {
  function findDispatcher(peer: Peer): Peer | null {
    return peer.parent === null ? null : peers.find(peer.parent);
  }

  function parentOf(peer: Peer): string | null {
    if (peer.seat === 'chair') return null;
    const parent = findDispatcher(peer);
    if (parent?.state === 'live') return parent.sessionId;
    return chairAddress(parent?.seat === 'chair' ? parent.project : peer.project);
  }

  /** The parent that siblings share: a Chair's session and its seat count as one. */
  function findHousehold(peer: Peer): string | null {
    const parent = findDispatcher(peer);
    return parent?.seat === 'chair' ? chairAddress(parent.project) : parentOf(peer);
  }

  const listOthers = (peer: Peer): Peer[] => peers.live().filter((each) => each.sessionId !== peer.sessionId);

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
