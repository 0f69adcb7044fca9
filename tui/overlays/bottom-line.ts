import { formatCount } from '../../engine/core/base/text.ts';
import { editComment, keepComment } from '../actions/comments.ts';
import { approveUnconfined, denyWithReason, editPrompt, savePrompt } from '../actions/decisions.ts';
import { editMemoryText, saveMemory } from '../actions/memories.ts';
import { replaceList, searchPreview } from '../actions/navigation.ts';
import { type StateTransition, showMessage, transitionTo } from '../actions/transition.ts';
import { getPane } from '../panes/index.ts';
import { editInput, insertText } from '../state/input.ts';
import type { State } from '../state/model.ts';
import type { LineInput, OverlayState, WriteComment, WriteMemory, WritePrompt } from '../state/overlays.ts';
import { cleanText, splitCleanLines } from '../text/text.ts';

/** Overlays that are a line of text at the bottom of the screen. */
export type LineOverlay = Extract<
  OverlayState,
  { kind: 'filter' | 'search' | 'reason' | 'unconfined' | 'comment' | 'prompt' | 'memory' }
>;

export const isLineOverlay = (overlay: OverlayState): overlay is LineOverlay =>
  ['filter', 'search', 'reason', 'unconfined', 'comment', 'prompt', 'memory'].includes(overlay.kind);

const REFUSED_KEYS = 'Enter save  C-e editor  Esc cancel';

export const describeLineOverlay = (overlay: LineOverlay): { label: string; hint: string } => {
  switch (overlay.kind) {
    case 'filter':
      return getPane(overlay.pane).isSearchedByEngine === true
        ? { label: 'search', hint: 'words of a question, type:gotcha   Enter keep  Esc cancel' }
        : { label: 'filter', hint: 'status:failed agent:claude !word   Enter keep  Esc cancel' };
    case 'comment':
      return {
        label: cleanText(`comment on ${overlay.path}:${overlay.line}`),
        hint: 'Enter save  C-e editor  Esc cancel',
      };
    case 'prompt':
      return { label: `prompt of ${overlay.decision}, not saved`, hint: REFUSED_KEYS };
    case 'memory':
      return { label: `${overlay.memory.id}, not saved`, hint: REFUSED_KEYS };
    case 'search':
      return { label: 'search', hint: 'Enter search  Esc cancel' };
    case 'reason':
      return { label: `deny ${overlay.decision} because`, hint: 'Enter deny  Esc cancel' };
    case 'unconfined':
      return {
        label: `NOTHING WOULD CONFINE IT. Type ${overlay.task} to run it anyway`,
        hint: 'Enter run  Esc cancel',
      };
  }
};

type LongText = Extract<LineOverlay, { long: string | null }>;

/** Reports whether it is a text from the editor, which takes more than a line. */
const isLong = (overlay: LineOverlay): overlay is LongText & { long: string } =>
  'long' in overlay && overlay.long !== null;

/** Renders the typed text with the caret; for a text of several lines its first one. */
export function describeTyped(overlay: LineOverlay, showInput: (input: LineInput) => string): string {
  if (!isLong(overlay)) return showInput(overlay.input);
  const lines = splitCleanLines(overlay.long.trim());
  return lines.length === 1 ? lines[0]! : `${lines[0]} … (${formatCount(lines.length, 'line')})`;
}

/** Inserts typed or pasted text. A text of several lines keeps line breaks, and the new text is appended. */
export const insertInLine = (state: State, overlay: LineOverlay, text: string): State =>
  isLong(overlay)
    ? { ...state, overlay: { ...overlay, long: overlay.long + splitCleanLines(text).join('\n') } }
    : setLineInput(state, overlay, insertText(overlay.input, text));

const setPaneFilter = (
  state: State,
  overlay: Extract<OverlayState, { kind: 'filter' }>,
  filter: string,
): State => replaceList(state, overlay.pane, { ...state.lists[overlay.pane], filter });

/** Sets the typed text. A filter takes effect immediately. */
function setLineInput(state: State, overlay: LineOverlay & { input: LineInput }, input: LineInput): State {
  const next = { ...state, overlay: { ...overlay, input } };
  return overlay.kind === 'filter' ? setPaneFilter(next, overlay, input.value) : next;
}

function handleCommentKey(state: State, overlay: WriteComment, key: string): StateTransition {
  if (key === 'ctrl+e') return editComment(state, overlay);
  if (key === 'enter') return keepComment(state, overlay);
  const input = overlay.long === null ? editInput(overlay.input, key) : null;
  return transitionTo(input === null ? state : setLineInput(state, overlay, input));
}

/** Reports whether only the editor changes the text. */
function handleRefusedTextKey(
  state: State,
  overlay: WritePrompt | WriteMemory,
  key: string,
): StateTransition {
  const closed = { ...state, overlay: null };
  if (key === 'ctrl+e')
    return overlay.kind === 'prompt' ? editPrompt(state, overlay) : editMemoryText(state, overlay);
  if (key === 'enter')
    return overlay.kind === 'prompt' ? savePrompt(closed, overlay) : saveMemory(closed, overlay);
  return transitionTo(state);
}

export function handleLineKey(state: State, overlay: LineOverlay, key: string): StateTransition {
  const closed = { ...state, overlay: null };
  if (key === 'esc')
    return transitionTo(overlay.kind === 'filter' ? setPaneFilter(closed, overlay, overlay.before) : closed);
  if (overlay.kind === 'comment') return handleCommentKey(state, overlay, key);
  if (overlay.kind === 'prompt' || overlay.kind === 'memory')
    return handleRefusedTextKey(state, overlay, key);
  if (key !== 'enter') {
    const input = editInput(overlay.input, key);
    return transitionTo(input === null ? state : setLineInput(state, overlay, input));
  }
  const value = overlay.input.value.trim();
  if (overlay.kind === 'filter') return transitionTo(closed);
  if (overlay.kind === 'search') return searchPreview(closed, value);
  const decision = state.data.decisions.get(overlay.decision);
  if (decision?.state !== 'pending' || decision.hash !== overlay.hash) {
    return transitionTo(showMessage(closed, `${overlay.decision} has changed: check it again`, 'bad'));
  }
  if (overlay.kind === 'unconfined')
    return value === overlay.task
      ? approveUnconfined(closed, overlay)
      : transitionTo(
          showMessage(state, `${overlay.decision} still waits: only ${overlay.task} runs it; Esc cancel`),
        );
  return value === ''
    ? transitionTo(showMessage(state, 'a reason is required; Esc cancel'))
    : denyWithReason(closed, overlay.decision, value, overlay);
}
