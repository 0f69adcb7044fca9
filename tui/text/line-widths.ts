import { hasSureWidth } from './cells.ts';
import stringWidth from './widths.ts';

/**
 * Computes widths for Ink's update of a changed line, which keeps the common start of both lines and writes the rest.
 * If that part has no sure width, the position of the rest depends on the terminal. Its width is then infinite: Ink
 * writes the whole line.
 */
export default (text: string): number => (hasSureWidth(text) ? stringWidth(text) : Number.POSITIVE_INFINITY);
