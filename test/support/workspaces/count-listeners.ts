import type { Engine } from '../../../engine/index.ts';

/** Wraps an engine so that its listeners to commits are counted: every subscription has one. */
export function countListeners(engine: Engine): { counted: Engine; listenerCount(): number } {
  let listeners = 0;
  const counted: Engine = {
    ...engine,
    onCommit(listener) {
      const stop = engine.onCommit(listener);
      listeners += 1;
      return () => {
        listeners -= 1;
        return stop();
      };
    },
  };
  return { counted, listenerCount: () => listeners };
}
