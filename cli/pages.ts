import type { Context, FlagTable } from './command.ts';
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

/** The flag of what shows `standard` rows unless it is told otherwise. */
export const defineLimitFlag = (standard: number) =>
  ({ limit: { type: 'number', short: 'n', about: `at most this many (${standard})` } }) as const;

/** The flags of a list that shows `standard` rows unless it is told otherwise. */
export const definePageFlags = (standard: number) =>
  ({
    ...defineLimitFlag(standard),
    cursor: {
      type: 'string',
      value: 'cursor',
      about: 'the page after this one; the first is start, and --json says the next: {rows, next_cursor}',
    },
    ...outputFlags,
  }) as const;

/** Says that a list shows a part. On stderr and also under `--json`: an array has no place for it, and scripts read stdout. */
export function noteCut(
  { remark }: Pick<Context, 'remark'>,
  { shown, total, most = MOST, next }: { shown: number; total: number; most?: number; next?: string | null },
): void {
  if (total <= shown) return;
  const ways = [
    ...(shown >= most ? [] : [`--limit ${Math.min(total, most)} shows ${total > most ? 'more' : 'all'}`]),
    ...(next == null ? [] : [`--cursor ${next} goes on`]),
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
  getId(row: R): string | number;
  /** Of the rows of one page. */
  columns: readonly TextColumn<R>[] | ((rows: readonly R[]) => readonly TextColumn<R>[]);
  /** What is said when there is nothing. */
  empty: string;
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
  const next = found.length > limit && last !== undefined ? String(page.getId(last)) : null;
  const columns = typeof page.columns === 'function' ? page.columns(rows) : page.columns;
  const text = await formatRows(rows, columns, context.stdout, context.paint);
  const shown: unknown = cursor === undefined ? rows : { rows, next_cursor: next };
  context.result(shown, () => text);
  if (rows.length === 0) context.note(cursor === undefined || cursor === START ? page.empty : 'nothing more');
  if (cursor !== undefined && cursor !== START) {
    if (next !== null) context.remark(`note: there are more; --cursor ${next} goes on`);
  } else if (next !== null || rows.length >= MOST) {
    noteCut(context, { shown: rows.length, total: await page.count(), next });
  }
}
