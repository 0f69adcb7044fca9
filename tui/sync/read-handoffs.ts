import type { EngineClient } from '../../engine/index.ts';
import { checkCanAcknowledge, getSelectedMessage } from '../actions/bus.ts';
import type { State } from '../state/model.ts';

/** Who moves on before this has not read it. */
const READ_MS = 700;

/**
 * Acknowledges a handoff that has stood in the preview of Bus for a moment: it reports, and asks for nothing. What somebody
 * is to deal with, a note or an alert, is acknowledged by a person.
 */
export function readShownHandoffs(options: { client(): EngineClient; getState(): State }): {
  onStateChange(): void;
  close(): void;
} {
  let timer: NodeJS.Timeout | null = null;
  let shown: number | null = null;
  /** Each is asked for once: one that somebody else reads meanwhile stays as it is. */
  const asked = new Set<number>();

  function findShown(state: State): number | null {
    const message = getSelectedMessage(state);
    if (state.focus !== 'bus' || state.overlay !== null || state.link.phase !== 'live') return null;
    if (message?.kind !== 'handoff' || asked.has(message.message_id)) return null;
    return checkCanAcknowledge(state) === null ? message.message_id : null;
  }

  return {
    onStateChange() {
      const next = findShown(options.getState());
      if (next === shown) return;
      shown = next;
      if (timer !== null) clearTimeout(timer);
      timer = null;
      if (next === null) return;
      timer = setTimeout(() => {
        asked.add(next);
        void options
          .client()
          .call('msg.ack', { id: next, as_person: true })
          .catch(() => undefined);
      }, READ_MS);
    },
    close() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}
