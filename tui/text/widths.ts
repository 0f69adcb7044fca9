import stringWidth, { type Options } from 'string-width';

/** How many texts are remembered: the lines of a few screens. */
const MOST_REMEMBERED = 4096;
const ASCII = /^[\u0020-\u007e]*$/;

const rememberedCells = new Map<string, number>();

/** `string-width` with a cache, since most lines stay the same from one frame to the next. */
export default function rememberedWidth(text: string, options?: Options): number {
  if (options !== undefined) return stringWidth(text, options);
  if (ASCII.test(text)) return text.length;
  let cells = rememberedCells.get(text);
  if (cells === undefined) {
    cells = stringWidth(text);
    if (rememberedCells.size >= MOST_REMEMBERED) rememberedCells.clear();
    rememberedCells.set(text, cells);
  }
  return cells;
}
