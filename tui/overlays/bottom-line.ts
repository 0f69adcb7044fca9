import { approveUnconfined, deny } from '../actions/decisions.ts';
import { searchFor, withList } from '../actions/navigation.ts';
import { type Step, said, step } from '../actions/transition.ts';
import { edited } from '../state/input.ts';
import type { Overlay, State } from '../state/model.ts';

/** Overlays that are one line of text at the bottom. */
export type LineOverlay = Extract<Overlay, { kind: 'filter' | 'search' | 'reason' | 'unconfined' }>;

export const isLine = (overlay: Overlay): overlay is LineOverlay =>
  ['filter', 'search', 'reason', 'unconfined'].includes(overlay.kind);

export const labelOf = (overlay: LineOverlay): { label: string; hint: string } => {
  switch (overlay.kind) {
    case 'filter':
      return { label: 'filter', hint: 'status:failed agent:claude !word   Enter keep  Esc undo' };
    case 'search':
      return { label: 'search', hint: 'Enter search  Esc back' };
    case 'reason':
      return { label: `deny ${overlay.decision} because`, hint: 'Enter deny  Esc keep waiting' };
    case 'unconfined':
      return {
        label: `NOTHING WOULD CONFINE IT. Type ${overlay.task} to run it all the same`,
        hint: 'Enter run  Esc keep waiting',
      };
  }
};

const withFilter = (state: State, overlay: Extract<Overlay, { kind: 'filter' }>, filter: string): State =>
  withList(state, overlay.pane, { ...state.lists[overlay.pane], filter });

/** Each change of a filter is seen at once. */
export function withInput(state: State, overlay: LineOverlay, input: LineOverlay['input']): State {
  const next = { ...state, overlay: { ...overlay, input } };
  return overlay.kind === 'filter' ? withFilter(next, overlay, input.value) : next;
}

export function pressInLine(state: State, overlay: LineOverlay, key: string): Step {
  const closed = { ...state, overlay: null };
  if (key === 'esc')
    return step(overlay.kind === 'filter' ? withFilter(closed, overlay, overlay.before) : closed);
  if (key !== 'enter') {
    const input = edited(overlay.input, key);
    return step(input === null ? state : withInput(state, overlay, input));
  }
  const value = overlay.input.value.trim();
  if (overlay.kind === 'filter') return step(closed);
  if (overlay.kind === 'search') return searchFor(closed, value);
  const decision = state.data.decisions.get(overlay.decision);
  if (decision?.state !== 'pending' || decision.hash !== overlay.hash) {
    return step(said(closed, `${overlay.decision} has changed: look again`, 'bad'));
  }
  if (overlay.kind === 'unconfined')
    return value === overlay.task
      ? approveUnconfined(closed, overlay)
      : step(said(state, `${overlay.decision} waits: only ${overlay.task} runs it; Esc keeps it waiting`));
  return value === ''
    ? step(said(state, 'a reason is needed; Esc keeps it waiting'))
    : deny(closed, overlay.decision, value);
}
