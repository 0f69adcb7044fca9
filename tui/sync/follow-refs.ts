import type { EngineClient } from '../../engine/index.ts';
import type { State } from '../state/model.ts';
import type { ShownSession } from '../state/rows.ts';
import { getSelectedSession } from '../state/selection.ts';
import { isWaitingForReview } from '../state/work-items.ts';

/** How many repositories are followed at once. */
const MOST_REPOSITORIES = 20;

/**
 * Follows the branches of the repositories on the screen: the selected worker's, and those with work to review. A
 * repository that is no longer followed may go out of date, so it is reported as moved.
 */
export function followRefs(options: {
  client(): EngineClient;
  getState(): State;
  onMoved(repository: string): void;
}): { onStateChange(): void; restart(): void } {
  /** Subscriptions by subject; null if it cannot be followed. */
  const subscriptions = new Map<string, { repository: string; subscription: Promise<number | null> }>();
  /** The parts of the last state. Comparing them is cheap enough for every key. */
  let lastParts: readonly unknown[] = [];

  function listWantedRepositories(state: State): Map<string, ShownSession> {
    const { data, focus } = state;
    const all = new Map<string, ShownSession>();
    for (const session of data.sessions.values())
      if (session.repository !== null && isWaitingForReview(session) && all.size < MOST_REPOSITORIES)
        all.set(session.repository, session);
    const selected = focus === 'work' ? getSelectedSession(state) : undefined;
    // A live strict worker commits outside its repository, so it is followed separately.
    if (selected !== undefined && selected.repository !== null)
      all.set(
        selected.state === 'ended' ? selected.repository : `${selected.repository} ${selected.session_id}`,
        selected,
      );
    return all;
  }

  function subscribeToRefs(key: string, { repository, session_id: session }: ShownSession): void {
    if (repository === null) return;
    const subscription = options
      .client()
      .subscribe<{ subscription: number }>('refs.follow', { session }, ({ method }) => {
        if (method === 'refs') options.onMoved(repository);
      })
      // Branches may have moved between the last fetch and this subscription.
      .then((answer) => {
        options.onMoved(repository);
        return answer.subscription;
      })
      .catch(() => null);
    subscriptions.set(key, { repository, subscription });
  }

  function unfollowRepository(
    key: string,
    { repository, subscription }: ReturnType<typeof subscriptions.get> & object,
  ): void {
    subscriptions.delete(key);
    if (![...subscriptions.values()].some((each) => each.repository === repository))
      options.onMoved(repository);
    void subscription
      .then(async (id) => {
        if (id !== null) await options.client().unsubscribe(id);
      })
      .catch(() => undefined);
  }

  return {
    onStateChange() {
      const state = options.getState();
      if (state.link.phase !== 'live') return;
      const now = [state.data.sessions, state.focus, state.lists.work.selected];
      if (now.every((each, index) => each === lastParts[index])) return;
      lastParts = now;
      const next = listWantedRepositories(state);
      for (const [key, session] of next) if (!subscriptions.has(key)) subscribeToRefs(key, session);
      for (const [key, each] of [...subscriptions]) if (!next.has(key)) unfollowRepository(key, each);
    },
    /** Subscribes to everything again after the connection was lost. */
    restart() {
      subscriptions.clear();
      lastParts = [];
    },
  };
}
