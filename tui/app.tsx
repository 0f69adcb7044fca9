import { useApp, useInput, usePaste } from 'ink';
import { type ReactNode, useEffect, useRef, useSyncExternalStore } from 'react';
import { keyNames } from './keys.ts';
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
  const state = useSyncExternalStore(store.subscribe, store.get);
  const { suspendTerminal, exit } = useApp();
  const burst = useRef<string[]>([]);

  useEffect(() => {
    onTerminal({ suspend: suspendTerminal, exit });
  }, [onTerminal, suspendTerminal, exit]);

  // A paste without brackets, a script or a held key delivers several keys in one turn. They are one burst, however
  // many events the parser makes of it.
  useInput((input, key) => {
    const names = keyNames(input, key);
    if (names.length === 0) return;
    burst.current.push(...names);
    if (burst.current.length > names.length) return;
    queueMicrotask(() => {
      const keys = burst.current;
      burst.current = [];
      store.send({ type: 'keys', keys, at: Date.now() });
    });
  });
  usePaste((text) => store.send({ type: 'paste', text }));

  return <Screen state={state} colours={colours} />;
}
