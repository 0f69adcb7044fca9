import type { State } from '../state/model.ts';
import type { Store } from '../store.ts';
import type { AllState } from './state.ts';

/** Everything on the screen: a new object whenever, and only when, something in it has changed. */
export interface DrawnState {
  state: State;
  /** The workspaces whose rows are in the lists too; null where one is shown. */
  all: AllState | null;
}

export interface DrawnStore extends Pick<Store, 'send' | 'subscribe'> {
  getDrawn(): DrawnState;
}
