import stringWidth, { type Options } from 'string-width';
import { isNarrow } from './narrow.ts';

/** How many texts are remembered: the lines of a few screens. */
const MOST_REMEMBERED = 4096;
/** SGR (ECMA-48), which takes no cells. */
const COLOUR = /\u001b\[[\d;]*m/g;

const rememberedCells = new Map<string, number>();

/**
 * `string-width` with a cache, since most lines stay the same from one frame to the next. Narrow texts, such as those of a
 * first frame, are not left to it: it takes 20 ms for its first text.
 */
export default function rememberedWidth(text: string, options?: Options): number {
  if (options !== undefined) return stringWidth(text, options);
  const plain = text.includes('\u001b') ? text.replaceAll(COLOUR, '') : text;
  if (isNarrow(plain)) return plain.length;
  let cells = rememberedCells.get(text);
  if (cells === undefined) {
    cells = stringWidth(text);
    if (rememberedCells.size >= MOST_REMEMBERED) rememberedCells.clear();
    rememberedCells.set(text, cells);
  }
  return cells;
}
