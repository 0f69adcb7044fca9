import type { CommandContext, FlagTable } from './command.ts';
import type { PaintFunction } from './paint.ts';
import { formatRows, type TextColumn } from './print.ts';

/** How many rows the engine returns at once. */
const MOST = 100_000;
/** The cursor of the first page. */
const START = 'start';

/** Flags for long output: colours. On a terminal it goes through a pager. */
export const outputFlags = {
  color: {
    type: 'string',
    value: 'when',
    about: 'colours; auto is on a terminal, unless NO_COLOR is set',
    choices: ['auto', 'always', 'never'],
  },
} as const satisfies FlagTable;

/** The flags of a list that shows `standard` rows by default. */
export const definePageFlags = (standard: number) =>
  ({
    limit: { type: 'number', short: 'n', about: `at most this many (${standard})` },
    cursor: {
      type: 'string',
      value: 'cursor',
      about: 'page to show: start, or the next_cursor that --json prints: {rows, next_cursor}',
    },
    ...outputFlags,
  }) as const;

/** Notes that a list is incomplete. On stderr and also under `--json`: an array has no place for it, and scripts read stdout. */
function noteCut(
  { remark }: Pick<CommandContext, 'remark'>,
  { shown, total, most = MOST, next }: { shown: number; total: number; most?: number; next?: string | null },
): void {
  if (total <= shown) return;
  const ways = [
    ...(shown >= most ? [] : [`--limit ${Math.min(total, most)} shows ${total > most ? 'more' : 'all'}`]),
    ...(next == null ? [] : [`--cursor ${next} continues`]),
  ];
  remark(`note: ${shown} of ${total} are shown${ways.length === 0 ? '' : `; ${ways.join(', ')}`}`);
}

interface PageContext extends Pick<CommandContext, 'stdout' | 'paint' | 'result' | 'note' | 'remark'> {
  flags: { limit?: number | undefined; cursor?: string | undefined };
}

/** A page of a list, and how it is read and shown. */
export interface ShownListPage<R> {
  /** Number of rows without `--limit`. */
  standard: number;
  /** Reads at most `limit` rows after the row with the id `cursor`. */
  fetch(part: { limit: number; cursor?: string }): Promise<readonly R[]>;
  /** Number of rows on all pages; requested only if there is more than one page. */
  count(): Promise<number>;
  /** Returns the cursor after a row. `rows` are the rows of its page and the next one. */
  getId(row: R, rows: readonly R[]): string | number;
  /** Formats the rows of one page: as a table or as text. */
  columns?: readonly TextColumn<R>[] | ((rows: readonly R[]) => readonly TextColumn<R>[]);
  format?(rows: readonly R[], paint: PaintFunction): string;
  /** The value for `--json` without a cursor, if it is more than the rows. */
  describe?(rows: readonly R[]): unknown;
  /** The text for an empty list. */
  empty: string | (() => string | null);
}

async function formatPage<R>(
  rows: readonly R[],
  { columns = [], format }: ShownListPage<R>,
  { stdout, paint }: PageContext,
): Promise<string> {
  if (format !== undefined) return format(rows, paint);
  return formatRows(rows, typeof columns === 'function' ? columns(rows) : columns, stdout, paint);
}

/**
 * Shows a page of a list. Its cursor is the id of its last row, which stays valid when rows are added or removed.
 * Under `--json` it is an array of rows or, with a cursor, `{rows, next_cursor}`, null at the end.
 */
export async function showPage<R>(context: PageContext, page: ShownListPage<R>): Promise<void> {
  const { limit = page.standard, cursor } = context.flags;
  // One extra row shows whether there is another page. The engine refuses values out of range.
  const asked = limit >= 1 && limit < MOST ? limit + 1 : limit;
  const found = await page.fetch({
    limit: asked,
    ...(cursor === undefined || cursor === START ? {} : { cursor }),
  });
  const rows = found.length > limit ? found.slice(0, limit) : found;
  const last = rows.at(-1);
  const next = found.length > limit && last !== undefined ? String(page.getId(last, found)) : null;
  const text = await formatPage(rows, page, context);
  const whole = page.describe === undefined ? rows : page.describe(rows);
  context.result<unknown>(cursor === undefined ? whole : { rows, next_cursor: next }, () => text);
  if (rows.length === 0) {
    const empty = typeof page.empty === 'function' ? page.empty() : page.empty;
    const remark = cursor === undefined || cursor === START ? empty : 'nothing more';
    if (remark !== null) context.note(remark);
  }
  if (cursor !== undefined && cursor !== START) {
    if (next !== null) context.remark(`more rows: continue with --cursor ${next}`);
  } else if (next !== null || rows.length >= MOST) {
    noteCut(context, { shown: rows.length, total: await page.count(), next });
  }
}
