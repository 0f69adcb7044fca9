import { findWallTimes } from '../../../core/base/time-zone.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const UNITS: Record<string, number> = {
  ms: 1,
  s: SECOND,
  m: MINUTE,
  h: 60 * MINUTE,
  d: DAY,
  w: 7 * DAY,
};
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** A later reset time is a misunderstanding. */
const MAX_AHEAD_MS = 62 * DAY;
/** A time of day that passed this recently is meant, not tomorrow's. */
const JUST_PAST_MS = 15 * MINUTE;

/** Phrases before a retry time; also as a JSON key or a header. */
const KEYS = /\b(?:x-ratelimit-)?(reset|retry|again|wait|until|available|renew)([\w-]*)/gi;
/** A word before a key in the same sentence that refers to the past, such as "total retry wait time: 13 seconds". */
const OF_THE_PAST =
  /\b(?:total|last|previous\w*|gave up|giv(?:en|ing) up|stopped|exhausted|spent|cumulative|max\w*|longest|elapsed|since|took|after(?= \w*$))\b[^.;:!?·∙|{}]*$/i;
/** Text between a key and its value. */
const BETWEEN =
  /^["']?(?:[\s"'=:(~,-]|(?:at|on|in|after|for|about|around|approximately|at least|another|is|by|the|a further|delay|time|period|before trying|of|your|limit|quota|will be|be|please)\b)*/i;

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:T|,? +(?:at )?)(\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?( ?(?:Z\b|[+-]\d\d(?::?\d\d)?))?/i;
const SPAN =
  /(\d+(?:\.\d+)?|\ban?\b|\bone\b) ?(ms|milliseconds?|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)(?![a-z])/gi;
const MONTH = `(${MONTHS.join('|')})[a-z]*\\.?`;
const DATES = [
  // Nov 24th, 2026 — 24 November 2026 — 11/24/2026 — 24.11.2026 — 2026-11-24
  `${MONTH} (?<day>\\d{1,2})(?:st|nd|rd|th)?(?:,? (?<year>20\\d\\d))?(?!:)\\b`,
  `(?<day>\\d{1,2})(?:st|nd|rd|th|\\.)? ${MONTH}(?:,? (?<year>20\\d\\d))?`,
  '(?<one>\\d{1,2})[/.](?<other>\\d{1,2})[/.](?<year>20\\d\\d)',
  '(?<year>20\\d\\d)-(?<one>\\d\\d)-(?<other>\\d\\d)',
].map((each) => new RegExp(`^${each}[, ]*(?:at )?`, 'i'));
const DAYS = new RegExp(
  `^(?:(today|tonight|tomorrow|(?:${WEEKDAYS.join('|')})[a-z]*\\.?)[, ]+)?(?:at )?`,
  'i',
);
const CLOCK =
  /^(noon|midnight|\d{1,2})(?:[:.h](\d\d)(?::(\d\d)(?:[.,]\d+)?)?)?(?: ?([ap])\.?m\b\.?)?(?: uhr)?,?(?: ?\(?([A-Za-z]+(?:\/[\w+-]+)*(?:[+-]\d{1,2}(?::?\d\d)?)?|[+-]\d\d:?\d\d)\)?)?/i;

/**
 * Finds when a limit ends, Unix ms, from an agent's message: `…limit reached|1795286978`, `resets 6:49pm (UTC)`,
 * `resets Nov 24, 10am`, `try again at 4:38 AM`, `try again in 2h 5m`, `retry after 20 seconds`, an ISO 8601 time.
 * Null if it names none, or only a past one. `now` is the time of the message, Unix ms. A time given to the minute
 * may mean the end of that minute, so one more is added.
 */
export function findResetTime(text: string, now: number): number | null {
  // Many locales have narrow spaces before AM and PM.
  const plain = text.replace(/[\s\u00a0\u2007\u2009\u202f]+/g, ' ');
  const piped = /limit reached\|(\d{10}|\d{13})\b/i.exec(plain)?.[1];
  const found = piped === undefined ? firstFound(plain, now) : parseEpoch(piped);
  if (found === null || found >= now + MAX_AHEAD_MS || found <= now - DAY) return null;
  return found > now ? Math.round(found) : now + MINUTE;
}

function firstFound(text: string, now: number): number | null {
  for (const { 0: key, 1: word = '', 2: tail = '', index } of text.matchAll(KEYS)) {
    const before = text.slice(Math.max(0, index - 60), index);
    // "waited", "available resets": for inflected words only forms about the future.
    if (OF_THE_PAST.test(before) || /^(?:ed|able|ries)\b/i.test(tail)) continue;
    const after = text.slice(index + key.length, index + key.length + 120);
    const between = BETWEEN.exec(after)?.[0] ?? '';
    const rest = after.slice(between.length);
    const found =
      parseNumber(rest, `${word}${tail}`, now) ??
      parseDated(rest, now) ??
      parseSpan(rest, /\bin\b/i.test(between), now) ??
      parseClock(rest, now);
    if (found !== null) return found;
  }
  return null;
}

const parseEpoch = (digits: string): number => Number(digits) * (digits.length === 10 ? SECOND : 1);

/** A number without a unit: a Unix time, or in the unit that its key implies. */
function parseNumber(text: string, key: string, now: number): number | null {
  const digits = /^(\d+(?:\.\d+)?)(?![\d.]*[\w:/%]|\.\d| ?[a-z]+\b)/i.exec(text)?.[1];
  if (digits === undefined) return null;
  if (/^(?:\d{10}|\d{13})$/.test(digits)) return parseEpoch(digits);
  if (/ms$|millis/i.test(key)) return now + Number(digits);
  const isSeconds = /^retry[-_ ]?after|sec(?:ond)?s?$|_s$/i.test(key);
  return isSeconds ? now + Number(digits) * SECOND : null;
}

/** A full ISO 8601 date; without a zone it is this machine's. */
function parseDated(text: string, now: number): number | null {
  const [whole, year, month, day, hour, minute, second, zone] = ISO.exec(text) ?? [];
  if (whole === undefined) return null;
  const date = { year: Number(year), month: Number(month) - 1, day: Number(day) };
  const at = [Number(hour), Number(minute), Number(second ?? 0)] as const;
  const [first] = findWallTimes(date, at, zone?.trim(), now);
  return first === undefined ? null : first + (second === undefined ? MINUTE : 0);
}

function parseSpan(text: string, isIn: boolean, now: number): number | null {
  const [, hours, minutes, seconds = '0'] = /^(\d{1,3}):(\d\d)(?::(\d\d))?(?! ?[ap]\.?m)/i.exec(text) ?? [];
  if (isIn && hours !== undefined)
    return now + ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * SECOND;
  let total: number | null = null;
  let end = 0;
  for (const { 0: whole, 1: amount = '', 2: unit = '', index } of text.matchAll(SPAN)) {
    // Related parts are adjacent.
    if (index - end > (total === null ? 0 : 5)) break;
    end = index + whole.length;
    const name = unit.toLowerCase();
    const ms = /^m(?:s|illi)/.test(name) ? 1 : (UNITS[name[0] ?? ''] ?? 0);
    total = (total ?? 0) + (Number(amount) || (/\d/.test(amount) ? 0 : 1)) * ms;
  }
  return total === null || /^ ?(?:ago|so far|already|earlier|elapsed)\b/i.test(text.slice(end))
    ? null
    : now + total;
}

interface Day {
  year: number;
  /** From 0. */
  month: number;
  day: number;
}

/** A time of day, with or without a date: the first possible moment that is not past. */
function parseClock(text: string, now: number): number | null {
  const [head = '', word] = DAYS.exec(text) ?? [];
  const rest = text.slice(head.length);
  const [date, ...others] = findDates(rest, now);
  const [whole, hour = '', minute, second, half, zone] =
    CLOCK.exec(date === undefined ? rest : rest.slice(date.length)) ?? [];
  const isNamed = /^[a-z]/i.test(hour);
  if (whole === undefined || (half === undefined && minute === undefined && !isNamed)) return null;
  const h = hour.toLowerCase() === 'noon' ? 12 : isNamed ? 0 : toHour(Number(hour), half);
  const [m, s] = [Number(minute ?? 0), Number(second ?? 0)];
  if (h === null || m > 59 || s > 59) return null;
  const days = date === undefined ? listDays(word?.toLowerCase(), now) : [date, ...others];
  const times = days
    .flatMap((day) => findWallTimes(day, [h, m, s], zone, now))
    .sort((one, other) => one - other);
  const next =
    times.find((time) => time > now - JUST_PAST_MS) ?? (date === undefined ? undefined : times.at(-1));
  if (next === undefined) return null;
  return next <= now ? Math.min(next, now) : next + (second === undefined ? MINUTE : 0);
}

function toHour(hour: number, half: string | undefined): number | null {
  if (half === undefined) return hour < 24 ? hour : hour === 24 ? 0 : null;
  return hour < 1 || hour > 12 ? null : (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
}

/** Days that a date may mean, and its length; without a year, and if day and month are ambiguous. */
function findDates(text: string, now: number): (Day & { length: number })[] {
  for (const pattern of DATES) {
    const found = pattern.exec(text);
    if (found === null) continue;
    const { day, year, one, other } = found.groups ?? {};
    const name = found.find((part) => MONTHS.includes((part ?? '').toLowerCase()));
    const pairs =
      name !== undefined
        ? [[MONTHS.indexOf(name.toLowerCase()), Number(day)]]
        : [
            [Number(one) - 1, Number(other)],
            ...(text.startsWith(year ?? '') ? [] : [[Number(other) - 1, Number(one)]]),
          ];
    const thisYear = new Date(now).getUTCFullYear();
    const years = year === undefined ? [thisYear - 1, thisYear, thisYear + 1] : [Number(year)];
    return pairs
      .filter(([month = 0, each = 0]) => month >= 0 && month < 12 && each >= 1 && each <= 31)
      .flatMap(([month = 0, each = 0]) =>
        years.map((which) => ({ year: which, month, day: each, length: found[0].length })),
      );
  }
  return [];
}

/** Days around now that a word means, in any zone; without a word, the days next to now. */
function listDays(word: string | undefined, now: number): Day[] {
  const weekday = word === undefined ? -1 : WEEKDAYS.indexOf(word.slice(0, 3));
  const [from, to] = weekday >= 0 ? [-1, 8] : word === 'tomorrow' ? [0, 2] : [-2, 2];
  const days: Day[] = [];
  for (let ahead = from; ahead <= to; ahead += 1) {
    const at = new Date(now + ahead * DAY);
    if (weekday >= 0 && at.getUTCDay() !== weekday) continue;
    days.push({ year: at.getUTCFullYear(), month: at.getUTCMonth(), day: at.getUTCDate() });
  }
  return days;
}
