import type { PaneId } from '../pane-ids.ts';
import type { ListView, State } from '../state/model.ts';
import { countBannerLines, getLayout } from './layout.ts';

/** The part of the screen at a place: the tabs, a list with the line there below its columns, a line of the list of files, or a text. */
export type Hit = { tabs: true } | { list: PaneId; line: number } | { fileLine: number } | { text: true };

/** The header, and the tabs below it. */
const TABS_LINE = 1;
const HEAD_LINES = 2;
/** Lines of a list's box above its first row: the border and the headings. */
const ABOVE_ROWS = 2;

/** Finds what is at a place of the screen, counted from 0; null for the lines around the boxes. */
export function findHit(state: State, place: { column: number; row: number }): Hit | null {
  const { kind, columns } = getLayout(state);
  if (place.row === TABS_LINE && kind !== 'too-small') return { tabs: true };
  let left = 0;
  for (const boxes of columns) {
    let top = HEAD_LINES + countBannerLines(state);
    for (const { content, width, height } of boxes) {
      const isInside =
        place.column >= left && place.column < left + width && place.row >= top && place.row < top + height;
      if (isInside && 'list' in content) return { list: content.list, line: place.row - top - ABOVE_ROWS };
      if (isInside && 'files' in content) return { fileLine: place.row - top - 1 };
      if (isInside) return { text: true };
      top += height;
    }
    left += boxes[0]?.width ?? 0;
  }
  return null;
}

/** Returns the row at a visible line of a list; null for the heading of a section, and below the last row. */
export function findRowAt(
  { sections, count, top }: Pick<ListView, 'sections' | 'top'> & { count: number },
  line: number,
): number | null {
  if (line < 0) return null;
  if (sections.length === 0) return top + line < count ? top + line : null;
  let at = 0;
  let start = 0;
  for (const size of sections) {
    const first = Math.max(start, top);
    const end = start + size;
    start = end;
    if (end <= first) continue;
    if (line < at) return null;
    if (line < at + end - first) return first + line - at;
    // The next section has a heading.
    at += end - first + 1;
  }
  return null;
}
