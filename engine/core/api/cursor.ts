import { z } from 'zod';
import { SvcError } from '../base/errors.ts';

/** The start of a list page: after the row of that id, the last one of the previous page. All lists use it. */
export const cursor = z.string().min(1).max(100).optional();

/** Creates the schema of a list's number of rows. */
export const limitRows = (most: number, usual: number) => z.int().min(1).max(most).default(usual);

/** Creates the error for a cursor that names no row of its list. */
export const cursorError = (text: string): SvcError =>
  new SvcError('usage', `invalid cursor ${JSON.stringify(text)}`, {
    hint: 'a cursor is the id of the last row of the previous page',
  });

/** Returns the cursor of a list with numeric ids; undefined without one. Throws `usage`. */
export function parseNumberCursor(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw cursorError(text);
}

/** Returns a page of in-memory rows in their own order. Throws `usage` if the cursor names none of them. */
export function takePage<R>(
  rows: readonly R[],
  { limit = rows.length, cursor: last }: { limit?: number | undefined; cursor?: string | undefined },
  getId: (row: R) => string,
): R[] {
  if (last === undefined) return rows.slice(0, limit);
  const at = rows.findIndex((row) => getId(row) === last);
  if (at < 0) throw cursorError(last);
  return rows.slice(at + 1, at + 1 + limit);
}
