import { countUnseen } from '../../engine/core/base/text.ts';
import { findLineAnchor, type PatchRow, parsePatch } from '../state/patch.ts';
import type { CommentRow, ListedWork } from '../state/rows.ts';
import { cleanText, splitCleanLines, wrapText } from '../text/text.ts';
import { type StyledLine, span, type TextStyle } from '../text/theme.ts';
import { renderHeading } from './lines.ts';

const STYLES: Readonly<Record<PatchRow['kind'], TextStyle | undefined>> = {
  file: 'strong',
  hunk: 'hunk',
  added: 'added',
  removed: 'removed',
  same: undefined,
  note: 'dim',
};

export const renderPatchRow = ({ text, kind }: PatchRow): StyledLine => [
  span(cleanText(text.replace(/\r$/, '')), STYLES[kind]),
];

// A patch may have tens of thousands of lines, so it is read only once.
const patchCache = new WeakMap<
  ListedWork['patch'],
  { rows: readonly PatchRow[]; lines: readonly StyledLine[]; unseen: number }
>();

function readPatch({ patch }: Pick<ListedWork, 'patch'>) {
  const known = patchCache.get(patch);
  if (known) return known;
  const rows = parsePatch(patch.text);
  const lines = rows.map(renderPatchRow);
  const read = { rows, lines, unseen: countUnseen(patch.text) };
  patchCache.set(patch, read);
  return read;
}

/** Counts the invisible characters of a patch. */
export const countUnseenOfPatch = (work: Pick<ListedWork, 'patch'>): number => readPatch(work).unseen;

export const getPatchRows = (work: Pick<ListedWork, 'patch'>): readonly PatchRow[] => readPatch(work).rows;

/** The patch row above each comment; -1 for a line that is not in the patch. */
function placeComments(rows: readonly PatchRow[], comments: readonly CommentRow[]): number[] {
  return comments.map(({ path, side, line, text }) =>
    rows.findIndex((row) => {
      const anchor = findLineAnchor(row);
      const isThere = anchor?.path === path && anchor.side === side && anchor.line === line;
      return isThere && row.text.slice(1).replace(/\r$/, '').startsWith(text);
    }),
  );
}

/** Finds the comments on the line of a row, as far as they are about this version. */
export function findCommentsAt(
  row: PatchRow | undefined,
  comments: readonly CommentRow[],
): readonly CommentRow[] {
  const anchor = findLineAnchor(row);
  return comments.filter(
    ({ path, side, line, outdated }) =>
      !outdated && anchor?.path === path && anchor.side === side && anchor.line === line,
  );
}

/** Renders a comment behind a bar, with its author and version. */
function renderComment(comment: CommentRow, cells: number, place = ''): StyledLine[] {
  const { comment_id: id, actor, body, outdated } = comment;
  const about = `comment ${id}${place} by ${cleanText(actor)}${outdated ? ' (on an older version)' : ''}: `;
  const [first = '', ...rest] = splitCleanLines(body);
  return [`${about}${first}`, ...rest]
    .flatMap((line) => wrapText(line, Math.max(8, cells - 4)))
    .map((part): StyledLine => [span('  ┃ ', 'question'), span(part, 'warn')]);
}

export interface PatchView {
  lines: readonly StyledLine[];
  /** Returns the position of a patch row among the lines. */
  findLine(row: number): number;
}

/** Renders the patch with its comments below their lines, and a mark on the row under the cursor. */
export function renderPatch(
  work: Pick<ListedWork, 'patch'>,
  comments: readonly CommentRow[],
  cursor: number | null,
  cells: number,
): PatchView {
  const { rows, lines: plain } = readPatch(work);
  if (comments.length === 0 && cursor === null)
    return {
      lines: rows.length === 0 ? [] : [[], renderHeading('patch'), ...plain],
      findLine: (row) => row + 2,
    };
  const places = placeComments(rows, comments);
  const lost = comments.filter((_, index) => places[index] === -1);
  const below = new Map<number, StyledLine[]>();
  comments.forEach((comment, index) => {
    const at = places[index]!;
    if (at !== -1) below.set(at, [...(below.get(at) ?? []), ...renderComment(comment, cells)]);
  });
  const head: StyledLine[] = [
    ...(lost.length === 0 ? [] : [[], renderHeading('comments on lines that are not in the patch')]),
    ...lost.flatMap((each) => renderComment(each, cells, ` on ${cleanText(each.path)}:${each.line}`)),
    [],
    renderHeading('patch'),
  ];
  const marked = [...plain];
  if (cursor !== null && marked[cursor] !== undefined)
    marked[cursor] = [span(`▶${marked[cursor].map(({ text }) => text).join('')}`, 'selected')];
  const lines = [...head];
  const starts = marked.map((line, row) => {
    const start = lines.push(line) - 1;
    lines.push(...(below.get(row) ?? []));
    return start;
  });
  return { lines, findLine: (row) => starts[row] ?? lines.length };
}
