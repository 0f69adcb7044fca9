import { makeDrawable, padText, truncateStart } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';
import type { PatchFile } from './patch-lines.ts';

/** Finds the first visible file, so that the current one is in the middle where the list is longer than its box. */
export const findFirstFile = (count: number, current: number, rows: number): number =>
  Math.max(0, Math.min(current - Math.floor(rows / 2), count - rows));

/** Renders the visible files of a diff with their counts of lines, the current one marked. */
export function renderFileLines(
  files: readonly PatchFile[],
  current: number,
  { cells, rows }: { cells: number; rows: number },
): StyledLine[] {
  const first = findFirstFile(files.length, current, rows);
  return files.slice(first, first + rows).map(({ path, insertions, deletions }, index): StyledLine => {
    const isCurrent = first + index === current;
    const [added, removed] = [`+${insertions}`, `-${deletions}`];
    const room = cells - added.length - removed.length - 4;
    const name = truncateStart(makeDrawable(path), room);
    return [
      span(isCurrent ? '• ' : '  ', 'strong'),
      span(padText(name, room), isCurrent ? 'strong' : undefined),
      span(` ${added}`, insertions === 0 ? 'dim' : 'added'),
      span(` ${removed}`, deletions === 0 ? 'dim' : 'removed'),
    ];
  });
}
