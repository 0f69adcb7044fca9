import stringWidth, { type Options } from 'string-width';

/** Lines of a few screens. */
const MOST_REMEMBERED = 4096;
const ASCII = /^[\u0020-\u007e]*$/;

const rememberedCells = new Map<string, number>();

/** Cells of a text on a terminal: `string-width`, which remembers what it has measured: from one frame to the next most lines stay as they are. */
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
