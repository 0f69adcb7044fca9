import { Cron } from 'croner';
import { SvcError } from '../../core/base/errors.ts';
import { resolveZone } from '../../core/base/time-zone.ts';

/** The times of a cron expression in a time zone. */
export interface Timetable {
  /** The zone by its usual spelling, such as `Europe/Berlin`. */
  zone: string;
  /** Returns the first time after this one, Unix ms; null for none. */
  findNext(after: number): number | null;
}

const EXAMPLE =
  "'0 6 * * 1' is every Monday at 6:00: minute, hour, day of the month, month, day of the week; or @hourly, @daily, @weekly, @monthly";

const expressionError = (expression: string, why: string): SvcError =>
  new SvcError('usage', `every: ${JSON.stringify(expression)} is not a schedule: ${why}`, { hint: EXAMPLE });

function requireZone(zone: string): string {
  const known = resolveZone(zone);
  if (known !== null) return known;
  throw new SvcError('usage', `tz: there is no time zone ${JSON.stringify(zone)}`, {
    hint: 'a time zone has a name such as Europe/Berlin, America/New_York or UTC',
  });
}

function parseExpression(expression: string, zone: string): Cron {
  const fields = expression.trim().split(/\s+/);
  const isNamed = expression.startsWith('@');
  if (!isNamed && fields.length !== 5)
    throw expressionError(expression, `it has ${fields[0] === '' ? 0 : fields.length} of 5 fields`);
  try {
    return new Cron(expression, { timezone: zone, mode: '5-part' });
  } catch (error) {
    const why = (error as Error).message.replace(/^CronPattern: (?:Syntax error, )?/, '');
    throw expressionError(
      expression,
      isNamed ? 'there is no such name' : `${why.charAt(0).toLowerCase()}${why.slice(1)}`,
    );
  }
}

/**
 * Reads a cron expression of five fields, or a name such as `@daily`. A time that a change of the clock skips comes at
 * the end of the skipped hour; one that it repeats comes once, unless the hour is `*`. Throws `usage`, also for times that
 * never come.
 */
export function parseTimetable(expression: string, zone: string, now: number): Timetable {
  const known = requireZone(zone);
  const cron = parseExpression(expression, known);
  const findNext = (after: number): number | null => cron.nextRun(new Date(after))?.getTime() ?? null;
  if (findNext(now) === null) throw expressionError(expression, 'no day has this date');
  return { zone: known, findNext };
}
