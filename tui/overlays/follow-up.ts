import { editFollowUp, sendFollowUp } from '../actions/send-follow-up.ts';
import { type StateTransition, showMessage, transitionTo } from '../actions/transition.ts';
import { getLayout, PREVIEW_EDGE } from '../layout/layout.ts';
import type { State } from '../state/model.ts';
import type { SendFollowUp } from '../state/overlays.ts';
import { splitCleanLines, wrapText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';

/** No hand presses two different keys this fast, see `run-binding.ts`. */
const TOO_FAST_MS = 30;

const renderText = ({ text }: SendFollowUp, cells: number): StyledLine[] =>
  splitCleanLines(text)
    .flatMap((line) => wrapText(line, cells))
    .map((line): StyledLine => [span(line, line.startsWith('> ') ? 'dim' : undefined)]);

function measureForm(state: State, overlay: SendFollowUp): { last: number; page: number } {
  const page = Math.max(1, getLayout(state).body - PREVIEW_EDGE);
  const lines = renderText(overlay, state.size.columns - 4).length;
  return { last: Math.max(0, lines - page), page };
}

export function handleFollowUpKey(
  state: State,
  overlay: SendFollowUp,
  key: string,
  at: number,
): StateTransition {
  const { last, page } = measureForm(state, overlay);
  const by = { j: 1, down: 1, k: -1, up: -1, space: page, pagedown: page, pageup: -page, G: last, g: -last }[
    key
  ];
  if (by !== undefined)
    return transitionTo({
      ...state,
      overlay: { ...overlay, top: Math.max(0, Math.min(Math.min(overlay.top, last) + by, last)) },
    });
  if (key === 'e') return editFollowUp(state, overlay);
  if (key !== 'y') return transitionTo(key === 'esc' || key === 'q' ? { ...state, overlay: null } : state);
  if (at - overlay.openedAt < TOO_FAST_MS) return transitionTo(state);
  return overlay.top < last && !state.isPlain
    ? transitionTo(showMessage(state, 'read to the end first: Space continues'))
    : sendFollowUp(state, overlay);
}

export function renderFollowUp(
  overlay: SendFollowUp,
  { cells, rows }: { cells: number; rows: number },
): { title: string; note?: string; lines: StyledLine[]; keys: string } {
  const lines = renderText(overlay, cells);
  const below = lines.length - overlay.top - rows;
  return {
    title: `Send this to ${overlay.session}?`,
    ...(below > 0 ? { note: `▼ ${below} more` } : {}),
    lines: lines.slice(overlay.top, overlay.top + rows),
    keys: 'y send (spends tokens)  e edit it first  ↑ ↓ scroll  Esc cancel',
  };
}
