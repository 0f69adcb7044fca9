const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const SPAN =
  /(\d+(?:\.\d+)?)\s*(ms|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?)(?![a-z])/gi;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Later than this is no reset of a limit but a misunderstanding. */
const MAX_AHEAD_MS = 62 * UNITS.d!;

/**
 * When a limit is over, out of what agents say of it: `…limit reached|1795286978`, `resets 6:49pm (UTC)`,
 * `resets Nov 24, 10am`, `again at Nov 24th, 2026 4:37 PM`, `try again in 2h 5m`, `retry after 20 seconds`, a time of ISO 8601. Unix ms; null when nothing is said.
 */
export function resetTimeIn(text: string, now: number): number | null {
  const found = epoch(text) ?? iso(text) ?? span(text, now) ?? clock(text, now);
  return found !== null && found > now - UNITS.d! && found < now + MAX_AHEAD_MS ? Math.round(found) : null;
}

function epoch(text: string): number | null {
  const digits = /(?:\||reset\w*\W{1,4})(\d{10}|\d{13})\b/i.exec(text)?.[1];
  return digits === undefined ? null : Number(digits) * (digits.length === 10 ? 1000 : 1);
}

function iso(text: string): number | null {
  const time = /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)/.exec(text)?.[0];
  return time === undefined ? null : Date.parse(time);
}

function span(text: string, now: number): number | null {
  const after =
    /(?:reset\w*|retry\w*|again|wait)(?: \w+)?(?: in| after|:)?:? ((?:about )?[\d.]+ ?[a-z].{0,40})/i.exec(
      text,
    )?.[1];
  if (after === undefined || /^(?:about )?\d{1,2}(?::\d\d)? ?[ap]m/i.test(after)) return null;
  let total = 0;
  let end = 0;
  for (const { 0: whole, 1: amount, 2: unit, index } of after.matchAll(SPAN)) {
    // What belongs together stands together.
    if (total > 0 && index - end > 5) break;
    end = index + whole.length;
    const name = unit!.toLowerCase();
    total += Number(amount) * (UNITS[name] ?? UNITS[name[0]!]!);
  }
  return total > 0 ? now + total : null;
}

/** A time of day, of the next day when it has passed, in the zone that is named or this machine's. */
function clock(text: string, now: number): number | null {
  const found =
    /(?:reset\w*|again)\s+(?:at |on )?(?:([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?(?:, 20\d\d)?(?:,? (?:at )?))?(\d{1,2})(?::(\d\d))? ?([ap]m)?(?:,? \(?([A-Za-z]+(?:\/[\w+-]+)*)\)?)?/i.exec(
      text,
    );
  if (found === null) return null;
  const [, month, day, hour, minute = '0', half, zone] = found;
  if (half === undefined && found[4] === undefined) return null;
  const at = (Number(hour) % (half === undefined ? 24 : 12)) + (half?.toLowerCase() === 'pm' ? 12 : 0);
  const offset = offsetOf(zone, now);
  const local = new Date(now + offset);
  const index = month === undefined ? local.getUTCMonth() : MONTHS.indexOf(month.toLowerCase());
  if (index < 0) return null;
  const date = day === undefined ? local.getUTCDate() : Number(day);
  const time = Date.UTC(local.getUTCFullYear(), index, date, at, Number(minute)) - offset;
  if (time > now) return time;
  if (month === undefined) return time + UNITS.d!;
  return Date.UTC(local.getUTCFullYear() + 1, index, date, at, Number(minute)) - offset;
}

/** How far a zone is ahead of UTC, ms; an unknown one is this machine's. */
function offsetOf(zone: string | undefined, now: number): number {
  const parts = (timeZone: string | undefined): Intl.DateTimeFormatPart[] =>
    new Intl.DateTimeFormat('en', {
      ...(timeZone === undefined ? {} : { timeZone }),
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    }).formatToParts(now);
  const list = zoned(() => parts(zone)) ?? parts(undefined);
  const of = (type: string): number => Number(list.find((part) => part.type === type)?.value);
  const wall = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'));
  return wall - Math.floor(now / UNITS.m!) * UNITS.m!;
}

function zoned<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
