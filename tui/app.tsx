import { useApp, useInput, usePaste } from 'ink';
import { type ReactNode, useEffect, useMemo, useSyncExternalStore } from 'react';
import { createKeyCollector } from './effects.ts';
import { nameInkKeys } from './ink-keys.ts';
import { Screen } from './screen.tsx';
import type { Store } from './store.ts';

/** What only Ink can do for the rest of the program. */
export interface Terminal {
  /** Hands the terminal to someone else until the promise settles. */
  suspend(use: () => Promise<void>): Promise<void>;
  exit(error?: Error): void;
}

interface Props {
  store: Store;
  colours: boolean;
  onTerminal(terminal: Terminal): void;
}

/** Keyboard in, screen out. */
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
