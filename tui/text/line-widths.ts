import { hasSureWidth } from './cells.ts';
import stringWidth from './widths.ts';

/**
 * Widths for Ink's update of a changed line, which keeps the part that both lines begin with and writes the rest. If that
 * part has no sure width, the position of the rest depends on the terminal. Its width is then infinite: Ink writes the
 * whole line.
 */
export default (text: string): number => (hasSureWidth(text) ? stringWidth(text) : Number.POSITIVE_INFINITY);
