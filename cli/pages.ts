import type { Context, FlagTable } from './command.ts';
import type { Paint } from './paint.ts';
import { formatRows, type TextColumn } from './print.ts';

/** What the engine gives at once. */
const MOST = 100_000;
/** The cursor of the first page. */
const START = 'start';

/** The flags of what may be long: whether it has colours. On a terminal it goes through a pager. */
export const outputFlags = {
  color: {
    type: 'string',
    value: 'when',
    about: 'colours; auto is on a terminal, unless NO_COLOR is set',
    choices: ['auto', 'always', 'never'],
  },
} as const satisfies FlagTable;

/** The flags of a list that shows `standard` rows unless it is told otherwise. */
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

/** Says that a list shows a part. On stderr and also under `--json`: an array has no place for it, and scripts read stdout. */
function noteCut(
  { remark }: Pick<Context, 'remark'>,
  { shown, total, most = MOST, next }: { shown: number; total: number; most?: number; next?: string | null },
): void {
  if (total <= shown) return;
  const ways = [
    ...(shown >= most ? [] : [`--limit ${Math.min(total, most)} shows ${total > most ? 'more' : 'all'}`]),
    ...(next == null ? [] : [`--cursor ${next} continues`]),
  ];
  remark(`note: ${shown} of ${total} are shown${ways.length === 0 ? '' : `; ${ways.join(', ')}`}`);
}

interface PageContext extends Pick<Context, 'stdout' | 'paint' | 'result' | 'note' | 'remark'> {
  flags: { limit?: number | undefined; cursor?: string | undefined };
}

/** A page of a list, and how it is read and shown. */
export interface ListPage<R> {
  /** How many rows without `--limit`. */
  standard: number;
  /** Reads at most `limit` rows after the one whose id is `cursor`. */
  fetch(part: { limit: number; cursor?: string }): Promise<readonly R[]>;
  /** How many there are on all pages; asked for only when they are more than a page. */
  count(): Promise<number>;
  /** The cursor of what follows a row. `rows` are those of its page and the one after it. */
  getId(row: R, rows: readonly R[]): string | number;
  /** How the rows of one page are shown: as a table, or in words of their own. */
  columns?: readonly TextColumn<R>[] | ((rows: readonly R[]) => readonly TextColumn<R>[]);
  format?(rows: readonly R[], paint: Paint): string;
  /** What `--json` has without a cursor, where that is more than the rows. */
  describe?(rows: readonly R[]): unknown;
  /** What is said when there is nothing. */
  empty: string | (() => string | null);
}

async function formatPage<R>(
  rows: readonly R[],
  { columns = [], format }: ListPage<R>,
  { stdout, paint }: PageContext,
): Promise<string> {
  if (format !== undefined) return format(rows, paint);
  return formatRows(rows, typeof columns === 'function' ? columns(rows) : columns, stdout, paint);
}

/**
 * Shows a page of a list. Its cursor is the id of its last row, which stays good when rows are added or go. Under `--json` it
 * is an array of rows or, when a cursor was given, `{rows, next_cursor}`, null at the end.
 */
export async function showPage<R>(context: PageContext, page: ListPage<R>): Promise<void> {
  const { limit = page.standard, cursor } = context.flags;
  // One more says whether there is another page. What is out of range is refused by the engine.
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
