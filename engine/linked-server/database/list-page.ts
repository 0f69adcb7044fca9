import { type SelectQueryBuilder, sql } from 'kysely';

// Every growing list is read a page at a time, from the end of the previous one: the number of rows makes no
// difference then, and rows that are added or removed neither hide another nor show it twice.

const ROWS_ON_A_PAGE = 50;
const LONGEST_CURSOR = 1000;

/** The page of a list: after a row, before a row, or the first. An invalid cursor means the first. */
export interface PageWish {
  after?: string | undefined;
  before?: string | undefined;
}

/** A page of a list, with the cursors of its neighbours; null for none. */
export interface ListPage<Row> {
  rows: Row[];
  previous: string | null;
  next: string | null;
}

/** The order of a list: columns that identify a row together, all in one direction. */
export interface ListOrder {
  columns: Readonly<Record<string, 'text' | 'integer'>>;
  direction: 'asc' | 'desc';
}

type Key = readonly (string | number)[];

/** Reads one page of a query's results, which contain the columns of the order. */
export async function readListPage<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  order: ListOrder,
  { after, before }: PageWish,
): Promise<ListPage<Row>> {
  const end = readCursor(before, order);
  if (end !== null) {
    const rows = await readRows(standBefore(query, order, end), reverse(order));
    // If less than a page precedes the row, that is the first page.
    if (rows.length > ROWS_ON_A_PAGE) {
      const shown = rows.slice(0, ROWS_ON_A_PAGE).reverse();
      return { rows: shown, previous: cursorOf(shown.at(0), order), next: cursorOf(shown.at(-1), order) };
    }
  }
  const begin = end === null ? readCursor(after, order) : null;
  if (begin !== null) {
    const rows = await readRows(standAfter(query, order, begin), order);
    if (rows.length > 0) return { ...cutPage(rows, order), previous: cursorOf(rows[0], order) };
  }
  return { ...cutPage(await readRows(query, order), order), previous: null };
}

/** Returns one page of a complete list, by a unique key. */
export function cutListPage<Row>(
  rows: readonly Row[],
  readKey: (row: Row) => string,
  { after, before }: PageWish,
): ListPage<Row> {
  const findRowPlace = (key: string | undefined): number => rows.findIndex((row) => readKey(row) === key);
  const end = findRowPlace(before);
  const first = Math.max(0, end < 0 ? findRowPlace(after) + 1 : end - ROWS_ON_A_PAGE);
  const shown = rows.slice(first, first + ROWS_ON_A_PAGE);
  const keyAt = (place: number): string | null => (shown.length === 0 ? null : readKey(shown.at(place)!));
  return {
    rows: shown,
    previous: first > 0 ? keyAt(0) : null,
    next: first + shown.length < rows.length ? keyAt(-1) : null,
  };
}

/** Counts the rows after the last one of a page. */
export async function countBehind<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  order: ListOrder,
  { rows, next }: ListPage<Row>,
): Promise<number> {
  const last = rows.at(-1);
  if (next === null || last === undefined) return 0;
  const [counted] = await standAfter(query, order, makeRowKey(last, order))
    .clearSelect()
    .select(sql<number>`count(*)`.as('count'))
    .execute();
  return Number((counted as { count: number }).count);
}

const reverse = ({ columns, direction }: ListOrder): ListOrder => ({
  columns,
  direction: direction === 'asc' ? 'desc' : 'asc',
});

function standAfter<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  { columns, direction }: ListOrder,
  key: Key,
): SelectQueryBuilder<DB, TB, Row> {
  const names = sql.join(Object.keys(columns).map((column) => sql.ref(column)));
  const than = direction === 'asc' ? sql`>` : sql`<`;
  return query.where(sql<boolean>`(${names}) ${than} (${sql.join(key)})`);
}

const standBefore = <DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  order: ListOrder,
  key: Key,
): SelectQueryBuilder<DB, TB, Row> => standAfter(query, reverse(order), key);

/** Returns the rows of a page, and one more if there are more. */
function readRows<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  { columns, direction }: ListOrder,
): Promise<Row[]> {
  let sorted = query;
  for (const column of Object.keys(columns)) sorted = sorted.orderBy(sql.ref(column), direction);
  return sorted.limit(sql.lit(ROWS_ON_A_PAGE + 1)).execute() as Promise<Row[]>;
}

function cutPage<Row>(rows: readonly Row[], order: ListOrder): Pick<ListPage<Row>, 'rows' | 'next'> {
  const shown = rows.slice(0, ROWS_ON_A_PAGE);
  return { rows: shown, next: rows.length > ROWS_ON_A_PAGE ? cursorOf(shown.at(-1), order) : null };
}

const makeRowKey = (row: unknown, { columns }: ListOrder): Key =>
  Object.keys(columns).map(
    (column) => (row as Record<string, string | number>)[column.slice(column.indexOf('.') + 1)]!,
  );

const cursorOf = (row: unknown, order: ListOrder): string =>
  Buffer.from(JSON.stringify(makeRowKey(row, order))).toString('base64url');

/** Parses a cursor; null for none, and for a cursor of another list. PostgreSQL accepts no NUL in a text. */
function readCursor(text: string | undefined, { columns }: ListOrder): Key | null {
  if (text === undefined || text.length > LONGEST_CURSOR) return null;
  let key: unknown;
  try {
    key = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  const kinds = Object.values(columns);
  const fits =
    Array.isArray(key) &&
    key.length === kinds.length &&
    kinds.every((kind, at) =>
      kind === 'integer'
        ? Number.isSafeInteger(key[at])
        : typeof key[at] === 'string' && !key[at].includes('\0'),
    );
  return fits ? (key as Key) : null;
}
