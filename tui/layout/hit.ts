import type { PaneId } from '../pane-ids.ts';
import { isCombinedPane } from '../pane-ids.ts';
import type { ListView, State } from '../state/model.ts';
import { countBannerLines, getLayout } from './layout.ts';

/** What is at a place of the screen: a list with the row there, a line of the list of files, or a text. */
export type Hit = { list: PaneId; row: number | null } | { fileLine: number } | { text: 'facts' | 'preview' };

/** The header and the views. */
const HEAD_LINES = 2;
/** Lines of a list's box above its first row: the border and the headings. */
const ABOVE_ROWS = 2;

/** Finds what is at a place of the screen, counted from 0; null for the lines around the boxes. */
export function findHit(state: State, place: { column: number; row: number }): Hit | null {
  const { across, lists } = state;
  let left = 0;
  for (const boxes of getLayout(state).columns) {
    let top = HEAD_LINES + countBannerLines(state);
    for (const { content, width, height } of boxes) {
      const isInside =
        place.column >= left && place.column < left + width && place.row >= top && place.row < top + height;
      if (isInside && 'list' in content) {
        // The rows of other workspaces are not in this state.
        const isCombined = across?.lists != null && isCombinedPane(content.list);
        const line = place.row - top - ABOVE_ROWS;
        return { list: content.list, row: isCombined ? null : findRowAt(lists[content.list], line) };
      }
      if (isInside && 'files' in content) return { fileLine: place.row - top - 1 };
      if (isInside) return { text: 'facts' in content ? 'facts' : 'preview' };
      top += height;
    }
    left += boxes[0]?.width ?? 0;
  }
  return null;
}

/** Returns the row at a visible line of a list; null for the heading of a section, and below the last row. */
function findRowAt({ sections, ids, top }: ListView, line: number): number | null {
  if (line < 0) return null;
  if (sections.length === 0) return top + line < ids.length ? top + line : null;
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
