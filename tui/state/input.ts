import { splitGraphemes } from '../text/text.ts';
import type { LineInput } from './overlays.ts';

export const EMPTY_INPUT: LineInput = { value: '', caret: 0 };

export const createInput = (value: string): LineInput => ({ value, caret: value.length });

/** Renders the line with a bar at the caret. */
export const showCaret = ({ value, caret }: LineInput): string =>
  `${value.slice(0, caret)}▏${value.slice(caret)}`;

/** Inserts text at the caret. Line breaks become spaces and control characters are dropped: the input is one line. */
export function insertText({ value, caret }: LineInput, text: string): LineInput {
  const plain = text.replace(/[\r\n\t]+/g, ' ').replace(/[\u0000-\u001f\u007f-\u009f]/g, '');
  return { value: value.slice(0, caret) + plain + value.slice(caret), caret: caret + plain.length };
}

/** Moves the caret one character further. A character may be several UTF-16 units. */
function moveCaret(value: string, caret: number, by: -1 | 1): number {
  const side = by < 0 ? value.slice(0, caret) : value.slice(caret);
  const parts = splitGraphemes(side);
  const size = (by < 0 ? parts.at(-1) : parts[0])?.length ?? 0;
  return caret + by * size;
}

/** Applies an editing key; null if the key edits nothing. */
export function editInput(input: LineInput, key: string): LineInput | null {
  const { value, caret } = input;
  switch (key) {
    case 'left':
      return { value, caret: moveCaret(value, caret, -1) };
    case 'right':
      return { value, caret: moveCaret(value, caret, 1) };
    case 'home':
    case 'ctrl+a':
      return { value, caret: 0 };
    case 'end':
    case 'ctrl+e':
      return createInput(value);
    case 'backspace': {
      const at = moveCaret(value, caret, -1);
      return { value: value.slice(0, at) + value.slice(caret), caret: at };
    }
    case 'delete':
    case 'ctrl+d':
      return { value: value.slice(0, caret) + value.slice(moveCaret(value, caret, 1)), caret };
    case 'ctrl+u':
      return { value: value.slice(caret), caret: 0 };
    case 'ctrl+k':
      return { value: value.slice(0, caret), caret };
    case 'ctrl+w': {
      const at = value.slice(0, caret).replace(/\S+\s*$/, '').length;
      return { value: value.slice(0, at) + value.slice(caret), caret: at };
    }
    case 'space':
      return insertText(input, ' ');
    default:
      return isCharacterKey(key) ? insertText(input, key) : null;
  }
}

/** Reports whether a key is a character and not a name such as `enter` or `ctrl+d`. */
export const isCharacterKey = (key: string): boolean => splitGraphemes(key).length === 1;

/** Returns where the lines around the caret start. */
function findLine({ value, caret }: LineInput): { start: number; end: number } {
  const end = value.indexOf('\n', caret);
  return { start: value.lastIndexOf('\n', caret - 1) + 1, end: end < 0 ? value.length : end };
}

/** Moves the caret one line up or down, at most to the end of that line; null beyond the text. */
function moveByLine(input: LineInput, by: -1 | 1): LineInput | null {
  const { value, caret } = input;
  const { start, end } = findLine(input);
  if (by < 0 ? start === 0 : end === value.length) return null;
  const next = findLine({ value, caret: by < 0 ? start - 1 : end + 1 });
  return { value, caret: Math.min(next.start + (caret - start), next.end) };
}

/** Applies an editing key to a text of several lines; null if the key edits nothing, or leaves the text. */
export function editText(input: LineInput, key: string): LineInput | null {
  const { value } = input;
  const { start, end } = findLine(input);
  switch (key) {
    case 'enter':
      return insertLines(input, '\n');
    case 'up':
      return moveByLine(input, -1);
    case 'down':
      return moveByLine(input, 1);
    case 'home':
    case 'ctrl+a':
      return { value, caret: start };
    case 'end':
      return { value, caret: end };
    case 'ctrl+u':
      return { value: value.slice(0, start) + value.slice(input.caret), caret: start };
    case 'ctrl+k':
      return { value: value.slice(0, input.caret) + value.slice(end), caret: input.caret };
    default:
      return key === 'ctrl+e' ? null : editInput(input, key);
  }
}

/** Inserts text at the caret and keeps its line breaks. Other control characters are dropped. */
export function insertLines({ value, caret }: LineInput, text: string): LineInput {
  const plain = text.replace(/\r\n?/g, '\n').replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, ' ');
  return { value: value.slice(0, caret) + plain + value.slice(caret), caret: caret + plain.length };
}
