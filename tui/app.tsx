import { useApp, useInput, usePaste } from 'ink';
import { type ReactNode, useEffect, useMemo, useSyncExternalStore } from 'react';
import type { DrawnStore } from './all/drawn-store.ts';
import { createKeyCollector } from './effects.ts';
import { nameInkKeys } from './ink-keys.ts';
import { Screen } from './screen.tsx';

/** Capabilities that only Ink provides. */
export interface InkTerminal {
  /** Hands the terminal to another program until the promise settles. */
  suspend(use: () => Promise<void>): Promise<void>;
  exit(error?: Error): void;
}

interface Props {
  store: DrawnStore;
  colours: boolean;
  onTerminal(terminal: InkTerminal): void;
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
