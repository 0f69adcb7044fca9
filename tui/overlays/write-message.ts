import { READING_WORDS } from '../../engine/index.ts';
import { sendWrittenMessage } from '../actions/bus.ts';
import { type StateTransition, transitionTo } from '../actions/transition.ts';
import { formatFirstLine } from '../panes/bus.ts';
import { createInput, editInput, insertText, showCaret } from '../state/input.ts';
import type { State } from '../state/model.ts';
import { rotateIndex } from '../state/numbers.ts';
import type { WriteMessage } from '../state/overlays.ts';
import type { ListedMessage } from '../state/rows.ts';
import { cleanText, splitCleanLines, wrapText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';
import { renderEditorText, renderFormField } from './form-field.ts';

const FIELDS = 3;
const TEXT = 2;
const KINDS: readonly ListedMessage['kind'][] = ['note', 'handoff', 'alert'];

const editMessageBody = (state: State, overlay: WriteMessage): StateTransition =>
  transitionTo(state, {
    do: 'edit',
    text: overlay.long ?? overlay.text.value,
    name: 'message.md',
    onEdited(now, given) {
      if (now.overlay?.kind !== 'write') return transitionTo(now);
      const text = given.trimEnd();
      const body = text.includes('\n') ? { long: text } : { long: null, text: createInput(text) };
      return transitionTo({ ...now, overlay: { ...now.overlay, ...body } });
    },
  });

export function handleMessageKey(state: State, overlay: WriteMessage, key: string): StateTransition {
  const changeMessage = (change: Partial<WriteMessage>): StateTransition =>
    transitionTo({ ...state, overlay: { ...overlay, ...change } });
  if (key === 'esc') return transitionTo({ ...state, overlay: null });
  if (key === 'ctrl+e') return editMessageBody(state, overlay);
  if (key === 'enter') return sendWrittenMessage(state, overlay);
  if (key === 'tab' || key === 'down') return changeMessage({ field: rotateIndex(overlay.field, 1, FIELDS) });
  if (key === 'shift+tab' || key === 'up')
    return changeMessage({ field: rotateIndex(overlay.field, -1, FIELDS) });
  if (overlay.field === TEXT) {
    const text = overlay.long === null ? editInput(overlay.text, key) : null;
    return text === null ? transitionTo(state) : changeMessage({ text });
  }
  const by = key === 'right' || key === 'space' ? 1 : key === 'left' ? -1 : 0;
  if (overlay.field === 0) return changeMessage({ to: rotateIndex(overlay.to, by, overlay.targets.length) });
  return changeMessage({ message: KINDS[rotateIndex(KINDS.indexOf(overlay.message), by, KINDS.length)]! });
}

/** Inserts characters that arrived together. They go to the text, the only field that accepts them. */
export function insertInMessage(state: State, overlay: WriteMessage, text: string): State {
  const next =
    overlay.long === null
      ? { ...overlay, field: TEXT, text: insertText(overlay.text, text) }
      : { ...overlay, field: TEXT, long: overlay.long + splitCleanLines(text).join('\n') };
  return { ...state, overlay: next };
}

export function renderMessageForm(
  overlay: WriteMessage,
  sessions: State['data']['sessions'],
  cells: number,
): StyledLine[] {
  const { parent, targets, to, message, field, text, long } = overlay;
  const target = targets[to];
  const reads = sessions.get(target?.session ?? '')?.reads_messages;
  const renderField = (index: number, name: string, value: string): StyledLine =>
    renderFormField(name, value, field === index);
  const name = cleanText(`${target?.session ?? ''}${target?.about ? ` (${target.about})` : ''}`);
  return [
    renderField(0, 'to', targets.length === 1 ? name : `◂ ${name} ▸`),
    renderField(1, 'kind', `◂ ${message} ▸`),
    renderField(TEXT, 'text', long !== null ? '' : field === TEXT ? showCaret(text) : text.value),
    ...(long === null ? [] : renderEditorText(long, cells)),
    [],
    ...(reads === undefined
      ? []
      : [[span(`  ${target?.session} ${READING_WORDS[reads]}`, 'dim')] as StyledLine]),
    ...(parent === null
      ? []
      : wrapText(`answers ${parent.id}: ${formatFirstLine(parent.body)}`, cells - 2).map(
          (part): StyledLine => [span(`  ${part}`, 'dim')],
        )),
  ];
}
