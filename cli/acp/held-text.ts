import type { AcpLine } from '../../engine/index.ts';

type SpokenKind = 'message' | 'thought';

/** Words without an end of line are buffered up to this size, or for this long. */
const HELD_CHARACTERS = 2000;
const HELD_MS = 5000;

/** Prints text by whole lines, as pieces of it arrive. */
export function createHeldText(print: (line: AcpLine) => void) {
  let held = '';
  let speaking: SpokenKind = 'message';
  let timer: NodeJS.Timeout | undefined;

  function printHeld(upTo: number): void {
    const text = held.slice(0, upTo).replace(/^\n+|\n+$/g, '');
    held = held.slice(upTo);
    if (text.trim() !== '') print({ acp: speaking, text });
  }

  function flushHeld(): void {
    clearTimeout(timer);
    timer = undefined;
    printHeld(held.length);
  }

  function appendText(as: SpokenKind, text: string): void {
    if (as !== speaking) flushHeld();
    speaking = as;
    held += text;
    const end = held.lastIndexOf('\n');
    if (end !== -1) printHeld(end + 1);
    if (held.length > HELD_CHARACTERS) printHeld(held.lastIndexOf(' ') + 1 || held.length);
    if (held === '') {
      clearTimeout(timer);
      timer = undefined;
    } else {
      timer ??= setTimeout(flushHeld, HELD_MS);
    }
  }

  return { append: appendText, flush: flushHeld };
}
