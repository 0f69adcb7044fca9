import * as z from 'zod';
import { SvcError } from '../errors.ts';

const MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+$/;

/**
 * Returns the milliseconds of a duration such as `24h`, `1h30m`, `7d` or `0`. A number needs its unit, because `30`
 * alone would be ambiguous. Throws `config_invalid`.
 */
export function parseDuration(text: string): number {
  if (text === '0') return 0;
  if (!WHOLE.test(text)) {
    throw new SvcError(
      'config_invalid',
      'not a duration; write a number and its unit, such as 30s, 90m, 24h or 7d',
    );
  }
  let total = 0;
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)) {
    total += Number(number) * MS[unit as keyof typeof MS];
  }
  if (total > Number.MAX_SAFE_INTEGER) throw new SvcError('config_invalid', 'this duration is too long');
  return Math.round(total);
}

/** Creates a key for a duration; the text is kept, and `parseDuration` returns its milliseconds. */
export const durationKey = () => z.string().superRefine(refineWith(parseDuration));

/** Creates a zod refinement that reports the error of `parse`. */
export function refineWith(parse: (text: string) => unknown) {
  return (text: string, context: z.RefinementCtx<string>): void => {
    try {
      parse(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
    }
  };
}
