import { z } from 'zod';
import { SvcError } from '../base/errors.ts';

/** Where a page of a list begins: after the row of that id, the last one of the page before. All lists have it. */
export const cursor = z.string().min(1).max(100).optional();

/** The cursor of a list whose ids are numbers; undefined without one. Throws `usage`. */
export function parseNumberCursor(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new SvcError('usage', `${JSON.stringify(text)} is no cursor of this list`, {
    hint: 'a cursor is the id of the last row of the page before',
  });
}
