import { useApp, useInput, usePaste } from 'ink';
import { type ReactNode, useEffect, useMemo, useSyncExternalStore } from 'react';
import type { AllState } from './all/state.ts';
import { createKeyCollector } from './effects.ts';
import { nameInkKeys } from './ink-keys.ts';
import { Screen } from './screen.tsx';
import type { State } from './state/model.ts';
import type { Store } from './store.ts';

/** What the rest of the program can do only through Ink. */
export interface Terminal {
  /** Hands the terminal to another program until the promise settles. */
  suspend(use: () => Promise<void>): Promise<void>;
  exit(error?: Error): void;
}

/** What is drawn. It is another object whenever, and only when, something in it has changed. */
export interface DrawnState {
  state: State;
  /** The workspaces whose rows are in the lists too; null where one is shown. */
  all: AllState | null;
}

export interface DrawnStore extends Pick<Store, 'send' | 'subscribe'> {
  getDrawn(): DrawnState;
}

interface Props {
  store: DrawnStore;
  colours: boolean;
  onTerminal(terminal: Terminal): void;
}

/** Connects the keyboard and the screen to the store. */
export function App({ store, colours, onTerminal }: Props): ReactNode {
  const { state, all } = useSyncExternalStore(store.subscribe, store.getDrawn);
  const { suspendTerminal, exit } = useApp();
  const { collect, paste } = useMemo(() => createKeyCollector(store), [store]);

  useEffect(() => {
    onTerminal({ suspend: suspendTerminal, exit });
  }, [onTerminal, suspendTerminal, exit]);

  useInput((input, key) => collect(nameInkKeys(input, key)));
  usePaste(paste);

  return <Screen {...{ state, all, colours }} />;
}
