import type { EngineClient } from '../../engine/index.ts';
import { checkCanAcknowledge, getSelectedMessage } from '../actions/bus.ts';
import type { State } from '../state/model.ts';

/** A person who moves on earlier has not read it. */
const READ_MS = 700;

/**
 * Acknowledges a handoff that was in the preview of Bus for a moment: it reports, and requires no action. Notes and
 * alerts are acknowledged by a person.
 */
export function readShownHandoffs(options: { client(): EngineClient; getState(): State }): {
  onStateChange(): void;
  close(): void;
} {
  let timer: NodeJS.Timeout | null = null;
  let shown: number | null = null;
  /** Each is acknowledged once; if someone else reads it in the meantime, nothing changes. */
  const asked = new Set<number>();

  function findShown(state: State): number | null {
    const message = getSelectedMessage(state);
    if (state.focus !== 'bus' || state.overlay !== null || state.link.phase !== 'live') return null;
    if (message?.kind !== 'handoff' || asked.has(message.id)) return null;
    return checkCanAcknowledge(state) === null ? message.id : null;
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
