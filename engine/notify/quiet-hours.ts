import { SvcError } from '../core/base/errors.ts';
import { findWallTimes, resolveZone } from '../core/base/time-zone.ts';

const HOURS = /^([01]?\d|2[0-3]):([0-5]\d)\s*[-–]\s*([01]?\d|2[0-3]):([0-5]\d)(?:\s+(\S+))?$/;
const DAY_MS = 86_400_000;

/** Hours of each day in which no person is notified. */
interface QuietHours {
  from: readonly [hour: number, minute: number];
  to: readonly [hour: number, minute: number];
  /** An IANA name; undefined for the machine's own zone. */
  zone: string | undefined;
}

/** Returns the hours that a text such as `22:00-07:00` or `22:00-07:00 Europe/Berlin` names. Throws `config_invalid`. */
export function parseQuietHours(text: string): QuietHours {
  const [, ...parts] = HOURS.exec(text.trim()) ?? [];
  const [fromHour, fromMinute, toHour, toMinute] = parts.slice(0, 4).map(Number);
  const zone = parts[4];
  if (fromHour === undefined || fromMinute === undefined || toHour === undefined || toMinute === undefined)
    throw new SvcError(
      'config_invalid',
      'expected hours such as 22:00-07:00, with an optional time zone: 22:00-07:00 Europe/Berlin',
    );
  if (fromHour === toHour && fromMinute === toMinute)
    throw new SvcError('config_invalid', 'quiet hours must end at another time than they start');
  if (zone !== undefined && resolveZone(zone) === null)
    throw new SvcError('config_invalid', `unknown time zone ${zone}; write it like Europe/Berlin`);
  return { from: [fromHour, fromMinute], to: [toHour, toMinute], zone };
}

/** Returns when the quiet hours around a time end, Unix ms; null if it is not in them. An empty text names none. */
export function findQuietEnd(text: string, at: number): number | null {
  if (text === '') return null;
  const { from, to, zone } = parseQuietHours(text);
  const isOvernight = to[0] * 60 + to[1] < from[0] * 60 + from[1];
  // The date of a zone is at most a day away from that of UTC, and a night starts the day before.
  for (const days of [-2, -1, 0, 1]) {
    const start = findTime(at + days * DAY_MS, from);
    const end = findTime(at + (days + (isOvernight ? 1 : 0)) * DAY_MS, to);
    if (start !== undefined && end !== undefined && start <= at && at < end) return end;
  }
  return null;

  function findTime(near: number, [hour, minute]: QuietHours['from']): number | undefined {
    const day = new Date(near);
    const date = { year: day.getUTCFullYear(), month: day.getUTCMonth(), day: day.getUTCDate() };
    return findWallTimes(date, [hour, minute, 0], zone, at)[0];
  }
}
