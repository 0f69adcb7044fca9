import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseTimetable } from '../../../../engine/board/schedules/timetable.ts';
import type { SvcError } from '../../../../engine/core/base/errors.ts';

/** Returns the next times after one. */
function listTimes(expression: string, zone: string, from: string, count: number): string[] {
  const { findNext } = parseTimetable(expression, zone, Date.parse(from));
  const times: string[] = [];
  for (let at = Date.parse(from); times.length < count; ) {
    at = findNext(at) ?? assert.fail('there is no further time');
    times.push(new Date(at).toISOString().replace(':00.000Z', 'Z'));
  }
  return times;
}

const readError = (expression: string, zone = 'UTC'): string => {
  try {
    parseTimetable(expression, zone, Date.parse('2026-01-01T00:00:00Z'));
  } catch (error) {
    assert.equal((error as SvcError).code, 'usage');
    assert.ok((error as SvcError).hint !== undefined);
    return (error as SvcError).message;
  }
  return assert.fail(`${expression} was accepted`);
};

describe('the times of a cron expression', () => {
  test('a time that the clock skips in spring comes once, at the end of the skipped hour', () => {
    assert.deepEqual(listTimes('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2), [
      '2026-03-29T01:00Z',
      '2026-03-30T00:30Z',
    ]);
    assert.deepEqual(listTimes('30 2 * * *', 'Europe/Berlin', '2026-03-29T01:00:00Z', 1), [
      '2026-03-30T00:30Z',
    ]);
    assert.deepEqual(listTimes('0 2 * * *', 'America/New_York', '2026-03-07T12:00:00Z', 2), [
      '2026-03-08T07:00Z',
      '2026-03-09T06:00Z',
    ]);
  });

  test('a time that the clock repeats in autumn comes once, and every hour comes in both', () => {
    assert.deepEqual(listTimes('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2), [
      '2026-10-25T00:30Z',
      '2026-10-26T01:30Z',
    ]);
    // After a look between the two.
    assert.deepEqual(listTimes('30 2 * * *', 'Europe/Berlin', '2026-10-25T01:10:00Z', 1), [
      '2026-10-26T01:30Z',
    ]);
    assert.deepEqual(listTimes('0 * * * *', 'Europe/Berlin', '2026-10-24T23:30:00Z', 3), [
      '2026-10-25T00:00Z',
      '2026-10-25T01:00Z',
      '2026-10-25T02:00Z',
    ]);
  });

  test('names, weekdays and a leap day are understood, and the zone gets its usual spelling', () => {
    assert.deepEqual(listTimes('0 6 * * MON-FRI', 'UTC', '2026-01-02T12:00:00Z', 1), ['2026-01-05T06:00Z']);
    assert.deepEqual(listTimes('0 6 * * 7', 'UTC', '2026-01-02T12:00:00Z', 1), ['2026-01-04T06:00Z']);
    assert.deepEqual(listTimes('@weekly', 'UTC', '2026-01-02T12:00:00Z', 1), ['2026-01-04T00:00Z']);
    assert.deepEqual(listTimes('0 0 29 2 *', 'UTC', '2026-01-02T12:00:00Z', 1), ['2028-02-29T00:00Z']);
    assert.equal(parseTimetable('@daily', 'europe/berlin', 0).zone, 'Europe/Berlin');
  });

  test('an invalid expression is refused with its place', () => {
    const refused: Readonly<Record<string, RegExp>> = {
      '0 6 * *': /it has 4 of 5 fields$/,
      '* * * * * *': /it has 6 of 5 fields$/,
      'every monday': /it has 2 of 5 fields$/,
      '2026-05-01T00:00:00': /it has 1 of 5 fields$/,
      '61 6 * * 1': /invalid value for minute: 61$/,
      '0 25 * * 1': /invalid value for hour: 25$/,
      '0 6 * * foo': /entry 5 \(foo\)/,
      '*/90 * * * *': /steps cannot be greater/,
      '@reboot': /there is no such name$/,
      '@every 5m': /there is no such name$/,
    };
    for (const [expression, message] of Object.entries(refused)) assert.match(readError(expression), message);
  });

  test('a date that no month has is refused', () => {
    for (const expression of ['0 0 30 2 *', '0 0 31 4,6,9,11 *', '0 0 31W 2 *'])
      assert.match(readError(expression), /no day has this date$/);
  });

  test('an unknown time zone is refused', () => {
    for (const zone of ['Mars/Base', 'CEST+1', ''])
      assert.match(readError('@daily', zone), /^tz: there is no time zone /);
  });
});
