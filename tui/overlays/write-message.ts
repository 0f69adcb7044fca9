import { sendMessage } from '../actions/bus.ts';
import { type Step, step } from '../actions/transition.ts';
import { firstLine } from '../panes/bus.ts';
import { edited, inputOf, insert } from '../state/input.ts';
import type { MessageRow, State, WriteMessage } from '../state/model.ts';
import { clean, cleanLines, fill, wrap } from '../text/text.ts';
import { type Line, span } from '../text/theme.ts';

const FIELDS = 3;
const TEXT = 2;
const KINDS: readonly MessageRow['kind'][] = ['note', 'handoff', 'alert'];

const turn = (at: number, by: number, count: number): number => (at + by + count) % count;

const editBody = (state: State, overlay: WriteMessage): Step =>
  step(state, {
    do: 'edit',
    text: overlay.long ?? overlay.text.value,
    name: 'message.md',
    after(now, given) {
      if (now.overlay?.kind !== 'write') return step(now);
      const text = given.trimEnd();
      const body = text.includes('\n') ? { long: text } : { long: null, text: inputOf(text) };
      return step({ ...now, overlay: { ...now.overlay, ...body } });
    },
  });

export function pressInWrite(state: State, overlay: WriteMessage, key: string): Step {
  const put = (change: Partial<WriteMessage>): Step => step({ ...state, overlay: { ...overlay, ...change } });
  if (key === 'esc') return step({ ...state, overlay: null });
  if (key === 'ctrl+e') return editBody(state, overlay);
  if (key === 'enter') return sendMessage(state, overlay);
  if (key === 'tab' || key === 'down') return put({ field: turn(overlay.field, 1, FIELDS) });
  if (key === 'shift+tab' || key === 'up') return put({ field: turn(overlay.field, -1, FIELDS) });
  if (overlay.field === TEXT) {
    const text = overlay.long === null ? edited(overlay.text, key) : null;
    return text === null ? step(state) : put({ text });
  }
  const by = key === 'right' || key === 'space' ? 1 : key === 'left' ? -1 : 0;
  if (overlay.field === 0) return put({ to: turn(overlay.to, by, overlay.targets.length) });
  return put({ message: KINDS[turn(KINDS.indexOf(overlay.message), by, KINDS.length)]! });
}

/** Text that came together is text, in whatever field: only one takes any. */
export function typeInWrite(state: State, overlay: WriteMessage, text: string): State {
  const next =
    overlay.long === null
      ? { ...overlay, field: TEXT, text: insert(overlay.text, text) }
      : { ...overlay, field: TEXT, long: overlay.long + cleanLines(text).join('\n') };
  return { ...state, overlay: next };
}

export function writeLines(overlay: WriteMessage, cells: number): Line[] {
  const { parent, targets, to, message, field, text, long } = overlay;
  const target = targets[to];
  const row = (index: number, name: string, value: string): Line => {
    const isHere = field === index;
    return [
      span(`${isHere ? '▶' : ' '} ${fill(name, 9)}`, isHere ? 'key' : 'dim'),
      span(value, isHere ? 'marked' : undefined),
    ];
  };
  const name = clean(`${target?.session ?? ''}${target?.about ? ` (${target.about})` : ''}`);
  const { value, caret } = text;
  return [
    row(0, 'to', targets.length === 1 ? name : `◂ ${name} ▸`),
    row(1, 'kind', `◂ ${message} ▸`),
    row(
      TEXT,
      'text',
      long !== null ? '' : field === TEXT ? `${value.slice(0, caret)}▏${value.slice(caret)}` : value,
    ),
    ...(long === null ? [] : cleanLines(long)).flatMap((line) =>
      wrap(line, cells - 4).map((part): Line => [span('  │ ', 'border'), span(part)]),
    ),
    [],
    ...(parent === null
      ? []
      : wrap(`answers ${parent.message_id}: ${firstLine(parent.body)}`, cells - 2).map(
          (part): Line => [span(`  ${part}`, 'dim')],
        )),
  ];
}
