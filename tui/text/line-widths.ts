import { hasSureWidth } from './cells.ts';
import stringWidth from './widths.ts';

/**
 * Widths for Ink's update of a changed line, which leaves on the screen what both lines begin with and writes from there
 * on. Where that is depends on the terminal when the width is not sure: such a line fits nowhere, and is written whole.
 */
export default (text: string): number => (hasSureWidth(text) ? stringWidth(text) : Number.POSITIVE_INFINITY);
