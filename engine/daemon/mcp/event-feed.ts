import { toWire, type WireValue } from '../../core/api/operation.ts';
import type { LoggedEvent } from '../../storage/index.ts';
import type { Engine } from '../compose/compose.ts';

type EventListener = (event: WireValue<LoggedEvent>) => void;

/** The events of an engine, read once for all MCP clients that follow some. */
export interface EventFeed {
  /**
   * Calls `onEvent` with each event after `from`, and `onPoint` with the number of the last event of each batch.
   * Returns the function that ends this.
   */
  follow(from: number, onEvent: EventListener, onPoint: (seq: number) => void): () => void;
}

export function createEventFeed({ events, onCommit }: Pick<Engine, 'events' | 'onCommit'>): EventFeed {
  const listeners = new Set<{ onEvent: EventListener; onPoint(seq: number): void }>();
  let cursor = 0;
  let stop: (() => void) | null = null;

  function readAfter(seq: number, onEvent: EventListener): number {
    let last = seq;
    for (let next = events.listAfter(last); next.length > 0; next = events.listAfter(last))
      for (const event of next) {
        last = event.seq;
        onEvent(toWire(event) as WireValue<LoggedEvent>);
      }
    return last;
  }

  function deliver(): void {
    const last = readAfter(cursor, (event) => {
      for (const { onEvent } of listeners) onEvent(event);
    });
    if (last === cursor) return;
    cursor = last;
    for (const { onPoint } of listeners) onPoint(cursor);
  }

  return {
    follow(from, onEvent, onPoint) {
      if (stop === null) {
        cursor = events.lastSeq();
        stop = onCommit(deliver);
      }
      deliver();
      const listener = { onEvent, onPoint };
      onPoint(readAfter(from, onEvent));
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        stop?.();
        stop = null;
      };
    },
  };
}
