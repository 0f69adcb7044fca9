const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Abbreviations that the runtime does not know, or treats as another zone; hours ahead of UTC. */
const ABBREVIATIONS: Readonly<Record<string, number>> = {
  PST: -8,
  PDT: -7,
  MST: -7,
  MDT: -6,
  CST: -6,
  CDT: -5,
  EST: -5,
  EDT: -4,
  BST: 1,
  CEST: 2,
  IST: 5.5,
  JST: 9,
};

/**
 * Returns when clocks of a zone show a date and a time: Unix ms, the earlier first. Two for a repeated hour, and in a
 * skipped hour counted from its start. `zone` is an IANA name, an abbreviation, an offset such as `+02:00` or
 * `UTC+2`; this machine's for anything else.
 */
export function findWallTimes(
  date: { year: number; month: number; day: number },
  [hour, minute, second]: readonly [number, number, number],
  zone: string | undefined,
  now: number,
): number[] {
  const wall = Date.UTC(date.year, date.month, date.day, hour, minute, second);
  // The thirtieth of February does not exist.
  if (new Date(wall).getUTCMonth() !== date.month || Math.abs(wall - now) > 800 * DAY) return [];
  const ahead = findOffset(zone);
  const times = [...new Set([wall - DAY, wall + DAY].map((near) => wall - ahead(near)))];
  const shown = times.filter((time) => time + ahead(time) === wall).sort((one, other) => one - other);
  return shown.length > 0 ? shown : times.slice(0, 1);
}

/** Returns the usual spelling of an IANA name, such as `Europe/Berlin`; null for an unknown zone. */
export function resolveZone(zone: string): string | null {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

/** Returns how far a zone is ahead of UTC at a time, both in ms. */
function findOffset(zone: string | undefined): (time: number) => number {
  const name = zone?.toUpperCase() ?? '';
  const hours = ABBREVIATIONS[name];
  if (hours !== undefined) return () => hours * HOUR;
  const [, sign, h, m = '0'] = /^(?:UTC|GMT)?([+-])(\d{1,2}):?(\d\d)?$/.exec(name) ?? [];
  if (sign !== undefined) {
    const ms = (Number(h) + Number(m) / 60) * HOUR;
    return () => (sign === '-' ? -ms : ms);
  }
  const format = findFormat(name === 'Z' ? 'UTC' : zone) ?? findFormat(undefined);
  return (time) => {
    const parts = format?.formatToParts(time) ?? [];
    const readPart = (type: string): number => Number(parts.find((each) => each.type === type)?.value);
    const shown = Date.UTC(
      readPart('year'),
      readPart('month') - 1,
      readPart('day'),
      readPart('hour'),
      readPart('minute'),
      readPart('second'),
    );
    return shown - Math.floor(time / 1000) * 1000;
  };
}

function findFormat(timeZone: string | undefined): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en', {
      ...(timeZone === undefined ? {} : { timeZone }),
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    // Not a zone, but the next word of the sentence.
    return null;
  }
}
