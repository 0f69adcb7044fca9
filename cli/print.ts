import { cutToWidth, toPrintable } from '../engine/core/base/text.ts';
import { type PaintFunction, paintNothing, type TextStyle } from './paint.ts';

export interface TextColumn<R> {
  head: string;
  value(row: R): string | number | null | undefined;
  /** Takes the remaining width and is cut. */
  flexible?: boolean;
  right?: boolean;
  /** Left out on a terminal: people use another name. */
  isForScripts?: boolean;
  style?(row: R): TextStyle | undefined;
}

/**
 * Formats rows as text. On a terminal an aligned table with a header, cut to its width; otherwise tab-separated
 * values without a header, for scripts.
 */
export async function formatRows<R>(
  rows: readonly R[],
  allColumns: readonly TextColumn<R>[],
  out: { isTTY?: boolean; columns?: number },
  paint: PaintFunction = paintNothing,
): Promise<string> {
  const columns = out.isTTY ? allColumns.filter(({ isForScripts }) => !isForScripts) : allColumns;
  const cells = rows.map((row) => columns.map((column) => toPrintable(String(column.value(row) ?? '-'))));
  if (rows.length === 0) return '';
  const paintCell = (cell: string, row: R | undefined, column: number): string =>
    row === undefined ? paint('strong', cell) : paint(columns[column]?.style?.(row), cell);
  if (!out.isTTY)
    return cells
      .map((row, at) => row.map((cell, column) => paintCell(cell, rows[at], column)).join('\t'))
      .join('\n');
  const width = await loadWidth(cells);
  const widths = columns.map((column, index) =>
    Math.max(column.head.length, ...cells.map((row) => width(row[index] ?? ''))),
  );
  const flexible = columns.findIndex((column) => column.flexible);
  if (flexible >= 0) {
    const others = widths.reduce((sum, each, index) => sum + (index === flexible ? 0 : each + 2), 0);
    widths[flexible] = Math.max(10, Math.min(widths[flexible] ?? 0, (out.columns ?? 80) - others));
  }
  const formatRow = (row: readonly string[], of?: R): string =>
    row
      .map((cell, index) => {
        const shown = cutToWidth(cell, widths[index] ?? 0, width);
        const fill = ' '.repeat(Math.max(0, (widths[index] ?? 0) - width(shown)));
        const painted = paintCell(shown, of, index);
        if (columns[index]?.right) return fill + painted;
        return index === row.length - 1 ? painted : painted + fill;
      })
      .join('  ')
      .trimEnd();
  return [
    formatRow(columns.map((column) => column.head.toUpperCase())),
    ...cells.map((row, at) => formatRow(row, rows[at])),
  ].join('\n');
}

/** Loads the library for wide characters only for non-ASCII text: it costs more than the rest of a list. */
async function loadWidth(cells: readonly string[][]): Promise<(text: string) => number> {
  if (cells.every((row) => row.every((cell) => /^[\u0000-\u007f]*$/.test(cell))))
    return (text) => text.length;
  return (await import('string-width')).default;
}

/** Formats `name  value` lines; null values are left out. */
export function formatFacts(
  pairs: readonly (readonly [string, string | number | null | undefined, style?: TextStyle | undefined])[],
  paint: PaintFunction = paintNothing,
): string {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown
    .map(
      ([name, value, style]) =>
        `${paint('dim', name)}${' '.repeat(width - name.length)}  ${paint(style, toPrintable(String(value)))}`,
    )
    .join('\n');
}
