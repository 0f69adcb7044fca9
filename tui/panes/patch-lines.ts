import { countUnseen } from '../../engine/core/base/text.ts';
import { foldMetadata } from '../diff/fold.ts';
import { highlightLines } from '../diff/highlight.ts';
import { compareLines, markParts } from '../diff/words.ts';
import { SIDE_BY_SIDE } from '../layout/layout.ts';
import { findLineAnchor, type PatchRow, parsePatch } from '../state/patch.ts';
import type { CommentRow, ListedWork } from '../state/rows.ts';
import { measureCells } from '../text/cells.ts';
import { cleanText, fitLine, skipCells, splitCleanLines, wrapText } from '../text/text.ts';
import { type StyledLine, type StyledSpan, span, type TextStyle, toPlainText } from '../text/theme.ts';
import { renderHeading } from './lines.ts';

const STYLES: Readonly<Record<PatchRow['kind'], TextStyle | undefined>> = {
  file: 'strong',
  hunk: 'hunk',
  added: 'added',
  removed: 'removed',
  same: undefined,
  note: 'dim',
};

/** A file of a patch, with its counts of lines. */
export interface PatchFile {
  /** The row of its heading. */
  row: number;
  path: string;
  insertions: number;
  deletions: number;
}

/** A patch, read once: it may have tens of thousands of lines. */
interface ReadPatch {
  rows: readonly PatchRow[];
  files: readonly PatchFile[];
  /** By row: the removed or added one that it replaces; -1 for none. */
  partners: readonly number[];
  /** By row: the heading of its hunk. */
  hunks: readonly number[];
  /** Cells for a line number. */
  digits: number;
  unseen: number;
  /** By the first row of each part that was coloured: the coloured text of its rows. */
  coloured: Map<number, ReadonlyMap<number, readonly StyledSpan[]>>;
  /** By width. */
  laidOut: Map<number, PatchLines>;
}

const patchCache = new WeakMap<ListedWork['patch'], ReadPatch>();

function readPatch({ patch }: Pick<ListedWork, 'patch'>): ReadPatch {
  const known = patchCache.get(patch);
  if (known) return known;
  const rows = foldMetadata(parsePatch(patch.text));
  const most = rows.reduce((last, { oldLine, newLine }) => Math.max(last, oldLine, newLine), 0);
  let hunk = -1;
  const read: ReadPatch = {
    rows,
    files: countByFile(rows),
    partners: findPartners(rows),
    hunks: rows.map(({ kind }, at) => {
      if (kind === 'hunk' || kind === 'file') hunk = at;
      return hunk;
    }),
    digits: Math.max(3, String(most).length),
    unseen: countUnseen(patch.text),
    coloured: new Map(),
    laidOut: new Map(),
  };
  patchCache.set(patch, read);
  return read;
}

/** Lists the files of a patch, and counts their lines. */
function countByFile(rows: readonly PatchRow[]): PatchFile[] {
  const files: PatchFile[] = [];
  for (const [row, { kind, path, oldPath }] of rows.entries()) {
    const file = files.at(-1);
    if (kind === 'file') files.push({ row, path: path ?? oldPath ?? '', insertions: 0, deletions: 0 });
    else if (file !== undefined && kind === 'added') file.insertions += 1;
    else if (file !== undefined && kind === 'removed') file.deletions += 1;
  }
  return files;
}

/** Pairs the removed lines of each change with the added ones that follow them. */
function findPartners(rows: readonly PatchRow[]): number[] {
  const partners = rows.map(() => -1);
  for (let at = 0; at < rows.length; ) {
    if (rows[at]!.kind !== 'removed') {
      at += 1;
      continue;
    }
    let end = at;
    while (rows[end]?.kind === 'removed') end += 1;
    for (let index = 0; at + index < end && rows[end + index]?.kind === 'added'; index += 1) {
      partners[at + index] = end + index;
      partners[end + index] = at + index;
    }
    at = end;
  }
  return partners;
}

/** Counts the invisible characters of a patch. */
export const countUnseenOfPatch = (work: Pick<ListedWork, 'patch'>): number => readPatch(work).unseen;

/** Returns the rows of a patch, in which the lines about a file are one. */
export const getPatchRows = (work: Pick<ListedWork, 'patch'>): readonly PatchRow[] => readPatch(work).rows;

/** Returns the files of a patch, in its order. */
export const getPatchFiles = (work: Pick<ListedWork, 'patch'>): readonly PatchFile[] => readPatch(work).files;

/** Returns the text of a row without its sign, for a file its heading. */
function readRowText({ text, kind, path, oldPath, about }: PatchRow): string {
  if (kind === 'file') return `── ${cleanText(path ?? oldPath ?? '')}${about ? `  ${cleanText(about)}` : ''}`;
  const shown = text.replace(/\r$/, '');
  return cleanText(kind === 'added' || kind === 'removed' || kind === 'same' ? shown.slice(1) : shown);
}

const isCode = ({ kind }: PatchRow): boolean => kind === 'added' || kind === 'removed' || kind === 'same';

const getSign = ({ kind }: PatchRow): string => (kind === 'added' ? '+' : kind === 'removed' ? '-' : ' ');

/** Renders a row without a line number. */
export const renderPatchRow = (row: PatchRow): StyledLine => [
  span(`${isCode(row) ? getSign(row) : ''}${readRowText(row)}`, STYLES[row.kind]),
];

/** Renders the number of a row, and the mark of the cursor. */
const renderGutter = (line: number, digits: number, isAtCursor: boolean): StyledSpan =>
  span(`${String(line).padStart(digits)}${isAtCursor ? '▶' : ' '}`, isAtCursor ? 'selected' : 'dim');

/** Lines that are coloured at once: a hunk may be a file of any length. */
const COLOURED_LINES = 200;
const MOST_COLOURED_CHARS = 20_000;

/** Colours a part of a hunk by the language of its file. Removed lines keep their colour, which says more. */
function colourPart(read: ReadPatch, row: number): ReadonlyMap<number, readonly StyledSpan[]> {
  const { rows, hunks } = read;
  const hunk = hunks[row]!;
  const first = row - ((row - hunk) % COLOURED_LINES);
  const known = read.coloured.get(first);
  if (known !== undefined) return known;
  const lines: number[] = [];
  for (let at = first; at < first + COLOURED_LINES && hunks[at] === hunk; at += 1)
    if (isCode(rows[at]!) && rows[at]!.kind !== 'removed') lines.push(at);
  const texts = lines.map((at) => readRowText(rows[at]!));
  const coloured = new Map<number, readonly StyledSpan[]>();
  const isSmall = texts.reduce((sum, { length }) => sum + length, 0) <= MOST_COLOURED_CHARS;
  const styled = isSmall ? highlightLines(rows[row]!.path ?? rows[row]!.oldPath ?? '', texts) : [];
  // Its language may be loaded later.
  if (styled === null) return coloured;
  lines.forEach((at, index) => {
    const own = STYLES[rows[at]!.kind];
    if (styled[index] !== undefined)
      coloured.set(
        at,
        styled[index].map((each) => span(each.text, each.style ?? own)),
      );
  });
  read.coloured.set(first, coloured);
  return coloured;
}

/** Renders the text of a row. */
type RenderCode = (read: ReadPatch, at: number) => StyledLine;

const renderPlainCode: RenderCode = ({ rows }, at) => [span(readRowText(rows[at]!), STYLES[rows[at]!.kind])];

/** Renders the text of a row with the colours of its language, and its changed words. */
function renderCode(read: ReadPatch, at: number): readonly StyledSpan[] {
  const row = read.rows[at]!;
  const text = readRowText(row);
  const line = colourPart(read, at).get(at) ?? [span(text, STYLES[row.kind])];
  // A text that has lost a character to its colours is shown without them.
  const coloured = toPlainText(line) === text ? line : [span(text, STYLES[row.kind])];
  const partner = read.rows[read.partners[at]!];
  if (partner === undefined) return coloured;
  const isAdded = row.kind === 'added';
  const other = readRowText(partner);
  const parts = isAdded ? compareLines(other, text) : compareLines(text, other);
  if (parts === null) return coloured;
  return markParts(coloured, isAdded ? parts.added : parts.removed, isAdded ? 'added-word' : 'removed-word');
}

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
  /**
   * Renders a line with colours, if it is a row, with its code `left` cells to the left. Only visible lines are
   * coloured, since a patch may be long.
   */
  colour(line: number, left?: number): StyledLine | undefined;
}

/** The rows of a line of the screen: one, or both sides of a change. */
interface ShownRows {
  left: number;
  /** The right side; undefined for a line across both sides. */
  right?: number;
}

/** Lists the lines of a patch, side by side or one below the other. A new or deleted file has only one side. */
function listShownRows({ rows, partners }: ReadPatch, isSideBySide: boolean): ShownRows[] {
  if (!isSideBySide) return rows.map((_, left) => ({ left }));
  return rows.flatMap(({ kind, path, oldPath }, at): ShownRows[] => {
    if (path === null || oldPath === null) return [{ left: at }];
    if (kind === 'same') return [{ left: at, right: at }];
    if (kind === 'removed') return [{ left: at, right: partners[at]! }];
    if (kind === 'added') return partners[at] === -1 ? [{ left: -1, right: at }] : [];
    return [{ left: at }];
  });
}

/** Renders one side of a change, cut or padded to its cells. */
function renderSide(
  read: ReadPatch,
  at: number,
  side: 'oldLine' | 'newLine',
  cells: number,
  cursor: number | null,
  code: RenderCode,
): StyledLine {
  const row = read.rows[at];
  if (row === undefined) return [span(' '.repeat(cells))];
  const line = [
    renderGutter(row[side], read.digits, at === cursor),
    span(getSign(row), STYLES[row.kind]),
    ...code(read, at),
  ];
  const fitted = fitLine(line, cells);
  return [...fitted, span(' '.repeat(Math.max(0, cells - measureCells(toPlainText(fitted)))))];
}

function renderShown(
  read: ReadPatch,
  { left, right }: ShownRows,
  cells: number,
  cursor: number | null,
  code: RenderCode,
): StyledLine {
  if (right === undefined) {
    const row = read.rows[left]!;
    if (!isCode(row))
      return [span(`${' '.repeat(read.digits)}${left === cursor ? '▶' : ' '}`), ...code(read, left)];
    const sign = span(getSign(row), STYLES[row.kind]);
    const number = row.kind === 'removed' ? row.oldLine : row.newLine;
    return [renderGutter(number, read.digits, left === cursor), sign, ...code(read, left)];
  }
  const half = Math.floor((cells - 3) / 2);
  return [
    ...renderSide(read, left, 'oldLine', half, cursor, code),
    span(' │ ', 'border'),
    ...renderSide(read, right, 'newLine', half, cursor, code),
  ];
}

/** The lines of a patch at one width, without a cursor. */
interface PatchLines {
  comments: readonly CommentRow[];
  lines: readonly StyledLine[];
  /** By row: its line. */
  starts: ReadonlyMap<number, number>;
  /** By line: the rows that it shows. */
  shownAt: ReadonlyMap<number, ShownRows>;
}

/** The facts and the text may have different widths; the lines of others are dropped. */
const MOST_WIDTHS = 2;

/** Lays out a patch once for each width: the cursor moves more often than the lines change. */
function layOutPatch(read: ReadPatch, comments: readonly CommentRow[], cells: number): PatchLines {
  const known = read.laidOut.get(cells);
  if (known?.comments === comments || (known?.comments.length === 0 && comments.length === 0)) return known;
  const { rows } = read;
  const places = placeComments(rows, comments);
  const lost = comments.filter((_, index) => places[index] === -1);
  const below = new Map<number, StyledLine[]>();
  comments.forEach((comment, index) => {
    const at = places[index]!;
    if (at !== -1) below.set(at, [...(below.get(at) ?? []), ...renderComment(comment, cells)]);
  });
  const lines: StyledLine[] = [
    ...(lost.length === 0 ? [] : [renderHeading('comments on lines that are not in the patch')]),
    ...lost.flatMap((each) => renderComment(each, cells, ` on ${cleanText(each.path)}:${each.line}`)),
  ];
  const starts = new Map<number, number>();
  const shownAt = new Map<number, ShownRows>();
  for (const shown of listShownRows(read, cells >= SIDE_BY_SIDE)) {
    const start = lines.push(renderShown(read, shown, cells, null, renderPlainCode)) - 1;
    shownAt.set(start, shown);
    for (const row of new Set([shown.left, shown.right ?? shown.left])) {
      starts.set(row, start);
      lines.push(...(below.get(row) ?? []));
    }
  }
  if (read.laidOut.size >= MOST_WIDTHS) read.laidOut.clear();
  const laidOut = { comments, lines, starts, shownAt };
  read.laidOut.set(cells, laidOut);
  return laidOut;
}

/** Renders the patch with line numbers, its comments below their lines, and a mark on the row under the cursor. */
export function renderPatch(
  work: Pick<ListedWork, 'patch'>,
  comments: readonly CommentRow[],
  cursor: number | null,
  cells: number,
): PatchView {
  const read = readPatch(work);
  const { lines, starts, shownAt } = layOutPatch(read, comments, cells);
  const renderLine = (line: number, code: RenderCode): StyledLine | undefined => {
    const shown = shownAt.get(line);
    return shown === undefined ? undefined : renderShown(read, shown, cells, cursor, code);
  };
  const cursorLine = cursor === null ? undefined : starts.get(cursor);
  return {
    lines:
      cursorLine === undefined ? lines : lines.with(cursorLine, renderLine(cursorLine, renderPlainCode)!),
    findLine: (row) => starts.get(row) ?? lines.length,
    // Numbers, signs and headings stay, and of both sides of a change the same part is visible.
    colour: (line, left = 0) =>
      renderLine(line, (of, at) => skipCells(renderCode(of, at), isCode(read.rows[at]!) ? left : 0)),
  };
}
