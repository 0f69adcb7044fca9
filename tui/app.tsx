import { useApp, useInput, usePaste } from 'ink';
import { type ReactNode, useEffect, useMemo, useSyncExternalStore } from 'react';
import { createKeyCollector } from './effects.ts';
import { nameInkKeys } from './ink-keys.ts';
import { Screen } from './screen.tsx';
import type { Store } from './store.ts';

/** What the rest of the program can do only through Ink. */
export interface Terminal {
  /** Hands the terminal to another program until the promise settles. */
  suspend(use: () => Promise<void>): Promise<void>;
  exit(error?: Error): void;
}

interface Props {
  store: Store;
  colours: boolean;
  onTerminal(terminal: Terminal): void;
}

/** Connects the keyboard and the screen to the store. */
export function App({ store, colours, onTerminal }: Props): ReactNode {
  const state = useSyncExternalStore(store.subscribe, store.getState);
  const { suspendTerminal, exit } = useApp();
  const collect = useMemo(() => createKeyCollector(store), [store]);

  useEffect(() => {
    onTerminal({ suspend: suspendTerminal, exit });
  }, [onTerminal, suspendTerminal, exit]);

  useInput((input, key) => collect(nameInkKeys(input, key)));
  usePaste((text) => store.send({ type: 'paste', text }));

  return <Screen state={state} colours={colours} />;
}
