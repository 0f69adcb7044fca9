import type { Store } from '../store.ts';
import type { DrawnState, DrawnStore } from './drawn-store.ts';
import { type AllEvent, type MemberEffect, reduceAll } from './reduce-all.ts';
import { type AllState, findMember, getActive } from './state.ts';

export interface AllStore extends DrawnStore {
  getAll(): AllState;
  send(event: AllEvent): void;
  /** The part of one workspace, for its engine sync: it sees changes of that part only. */
  storeOf(file: string): Store;
}

/** Holds the state of all workspaces, runs the reducer and passes effects on, as `createStore` does for one. */
export function createAllStore(
  first: AllState,
  deps: { run(effect: MemberEffect): void; crash(error: unknown): void },
): AllStore {
  let all = first;
  let drawn = drawAll(all);
  const listeners = new Set<() => void>();

  function sendEvent(event: AllEvent): void {
    try {
      const { all: next, effects } = reduceAll(all, event);
      all = next;
      drawn = drawAll(all);
      for (const listener of listeners) listener();
      for (const effect of effects) deps.run(effect);
    } catch (error) {
      deps.crash(error);
    }
  }
  function subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  return {
    getAll: () => all,
    getDrawn: () => drawn,
    send: sendEvent,
    subscribe,
    storeOf: (file) => ({
      getState: () => findMember(all, file).state,
      send: (event) => sendEvent({ type: 'member', file, event }),
      subscribe(listener) {
        let last = findMember(all, file).state;
        return subscribe(() => {
          const { state } = findMember(all, file);
          if (state === last) return;
          last = state;
          listener();
        });
      },
    }),
  };
}

const drawAll = (all: AllState): DrawnState => ({
  state: getActive(all).state,
  all: all.isAlone ? null : all,
});
