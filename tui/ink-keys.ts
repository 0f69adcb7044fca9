import type { Key } from 'ink';
import { splitGraphemes } from './text/text.ts';

/** Translates a key from Ink into the keymap's spelling. Several characters at once give one name each. */
export function nameInkKeys(input: string, key: Key): string[] {
  if (key.upArrow) return [key.shift ? 'shift+up' : 'up'];
  if (key.downArrow) return [key.shift ? 'shift+down' : 'down'];
  if (key.leftArrow) return ['left'];
  if (key.rightArrow) return ['right'];
  if (key.pageUp) return ['pageup'];
  if (key.pageDown) return ['pagedown'];
  if (key.home) return ['home'];
  if (key.end) return ['end'];
  if (key.return) return ['enter'];
  if (key.escape) return ['esc'];
  if (key.tab) return [key.shift ? 'shift+tab' : 'tab'];
  if (key.backspace) return ['backspace'];
  if (key.delete) return ['delete'];
  if (key.ctrl && input !== '') return [`ctrl+${input}`];
  // The keymap has no keys with Alt.
  if (key.meta) return [];
  return splitGraphemes(input).map(nameCharacterKey);
}

function nameCharacterKey(character: string): string {
  if (character === ' ') return 'space';
  if (character === '\r' || character === '\n' || character === '\r\n') return 'enter';
  if (character === '\t') return 'tab';
  if (character === '\u001b') return 'esc';
  if (character === '\u007f' || character === '\b') return 'backspace';
  // Ink does not split a chunk into keys, so keys with Ctrl are still control characters.
  const code = character.codePointAt(0) ?? 0;
  return code >= 1 && code <= LAST_CTRL_LETTER
    ? `ctrl+${String.fromCodePoint(code + CTRL_TO_LETTER)}`
    : character;
}

/** Ctrl-A is 1, Ctrl-Z is 26; the letter has the same place after a backtick. */
const LAST_CTRL_LETTER = 26;
const CTRL_TO_LETTER = 96;
