import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findResetTime } from '../../../../../engine/workers/agents/streams/reset-time.ts';

const NOW = Date.parse('2026-11-21T16:00:00Z');
const MINUTE = 60_000;
const DAY = 86_400_000;

/** Sets the machine's time zone for the duration of a test. */
function inZone(zone: string, work: () => void): void {
  const before = process.env.TZ;
  process.env.TZ = zone;
  try {
    work();
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
}

function check(table: readonly [string, string | null][]): void {
  for (const [text, expected] of table) {
    const found = findResetTime(text, NOW);
    assert.equal(
      found === null ? null : new Date(found).toISOString(),
      expected === null ? null : new Date(expected).toISOString(),
      text,
    );
  }
}

test("the end of a limit is read from agents' messages, and a time to the minute is rounded up", () => {
  inZone('UTC', () =>
    check([
      ['Claude AI usage limit reached|1795286978', '2026-11-21T18:49:38Z'],
      ["You've hit your 5-hour limit · resets 6:49pm (UTC)", '2026-11-21T18:50:00Z'],
      ["You've hit your session limit · resets 3pm (UTC)", '2026-11-22T15:01:00Z'],
      ["You've hit your limit · resets 12am (UTC)", '2026-11-22T00:01:00Z'],
      ['5-hour limit reached ∙ resets 3pm (America/New_York)', '2026-11-21T20:01:00Z'],
      ["You've hit your weekly limit · resets Nov 24, 10am (Asia/Tokyo)", '2026-11-24T01:01:00Z'],
      ["You've hit your weekly limit · resets Nov 24 at 10:30am (Asia/Kolkata)", '2026-11-24T05:01:00Z'],
      ['resets Jan 2, 9am (UTC)', '2027-01-02T09:01:00Z'],
      ["You've hit your usage limit. Try again at Nov 24th, 2026 4:37 PM.", '2026-11-24T16:38:00Z'],
      ['Rate limit reached. Please try again in 20s.', '2026-11-21T16:00:20Z'],
      ['Please try again in 6m30.5s.', '2026-11-21T16:06:30.500Z'],
      ['try again in 350ms', '2026-11-21T16:00:00.350Z'],
      ["You've hit your usage limit. Try again in 2 days 3 hours 5 minutes.", '2026-11-23T19:05:00Z'],
      ['Please wait 30 seconds before retrying', '2026-11-21T16:00:30Z'],
      ['Please retry in about an hour', '2026-11-21T17:00:00Z'],
      ['retry after 40 seconds', '2026-11-21T16:00:40Z'],
      ['Your quota will reset after 5h12m', '2026-11-21T21:12:00Z'],
      ['resets in 3:45:12', '2026-11-21T19:45:12Z'],
      ['"retryDelay":"34s"', '2026-11-21T16:00:34Z'],
      ['{"retry_after": 12}', '2026-11-21T16:00:12Z'],
      ['retry-after-ms: 1500', '2026-11-21T16:00:01.500Z'],
      ['{"resets_at":1795286978}', '2026-11-21T18:49:38Z'],
      ['"resets_in_seconds":3600', '2026-11-21T17:00:00Z'],
      ['try again at 2026-11-22T08:00:00Z', '2026-11-22T08:00:00Z'],
      // A log line starts with its timestamp.
      ['2026-11-21T15:59:58Z rate limit: try again in 20s', '2026-11-21T16:00:20Z'],
    ]),
  );
});

test('a time is read in the forms of other places, zones and clocks', () => {
  inZone('UTC', () =>
    check([
      ['Try again at 4:38\u202fPM.', '2026-11-21T16:39:00Z'],
      ['usage limit, resets at 4:38 a.m. (UTC)', '2026-11-22T04:39:00Z'],
      ['Try again at 16:38', '2026-11-21T16:39:00Z'],
      ['Try again at 16:38:07', '2026-11-21T16:38:07Z'],
      ['Try again at 11/24/2026, 4:38:00 AM', '2026-11-24T04:38:00Z'],
      ['Try again at 24.11.2026, 04:38', '2026-11-24T04:39:00Z'],
      ['Try again at 24 November 2026 at 10:00 (CET)', '2026-11-24T09:01:00Z'],
      ['Try again at 10:00 PST', '2026-11-21T18:01:00Z'],
      ['available again at 19:00 UTC+2', '2026-11-21T17:01:00Z'],
      ['limited until 2026-11-22 08:00', '2026-11-22T08:01:00Z'],
      ['Resets on Monday at 9:00 AM', '2026-11-23T09:01:00Z'],
      ['Your weekly limit resets on Tue, Nov 24, 10:00', '2026-11-24T10:01:00Z'],
      ['resets tomorrow at 3pm', '2026-11-22T15:01:00Z'],
      ['It resets at midnight', '2026-11-22T00:01:00Z'],
    ]),
  );
  inZone('Asia/Kolkata', () => check([['Try again at 10:00 PM.', '2026-11-21T16:31:00Z']]));
});

test('a time in the past is not the end of a limit', () => {
  inZone('UTC', () =>
    check([
      ['failed after 5 retries (total retry wait time: 13.38 seconds)', null],
      ['waited 13 seconds', null],
      ['retried for 20s', null],
      ['after waiting 30 seconds', null],
      ['gave up retrying after 30 seconds', null],
      ['the last reset was 3 hours ago', null],
      ['reset 2 minutes ago', null],
      ['Retrying (1/10)', null],
      ['retry 3 of 10', null],
      ['too many requests', null],
      ['it resets everything', null],
      ['try again later', null],
      ['limit reached|9999999999', null],
      // The time after it is valid.
      ['Giving up. Try again in 5 minutes', '2026-11-21T16:05:00Z'],
      // The time has passed.
      ['Try again at Nov 21st, 2026 1:00 PM.', '2026-11-21T16:01:00Z'],
    ]),
  );
});

test('a time of day that has just passed is in a minute, also around midnight', () => {
  inZone('UTC', () => check([['Try again at 3:58 PM.', '2026-11-21T16:01:00Z']]));
  inZone('UTC', () => check([['Try again at 4:00 PM.', '2026-11-21T16:01:00Z']]));
  inZone('Europe/Berlin', () => {
    const now = Date.parse('2026-11-21T23:01:10Z');
    assert.equal(findResetTime('Try again at 11:59 PM.', now), now + MINUTE);
  });
});

/** A seed that reproduces failures. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Apia',
];
/** Times near clock changes, and near the ends of days and years. */
const EDGES = [
  '2026-03-08T07:00Z',
  '2026-03-29T01:00Z',
  '2026-10-25T01:00Z',
  '2026-11-01T06:00Z',
  '2026-12-31T23:59Z',
];

test("agents' times are read to the minute, in every zone, around midnight, and at changes of clock and year", () => {
  const random = createRandom(7);
  for (let round = 0; round < 2000; round += 1) {
    const zone = ZONES[random(ZONES.length)]!;
    const near = random(2) === 0 ? Date.parse(EDGES[random(EDGES.length)]!) : NOW + random(300) * DAY;
    const now = near + random(6 * 3_600_000) - 3 * 3_600_000;
    const hasSeconds = random(2) === 0;
    const hasDate = random(2) === 0;
    const ahead = hasDate ? random(7 * DAY) : random(DAY - 30 * MINUTE);
    const until = Math.floor((now + (random(4) === 0 ? -random(10 * MINUTE) : ahead)) / 1000) * 1000;
    const text = new Intl.DateTimeFormat(['en-US', 'en-GB', 'de-DE'][random(3)], {
      timeZone: zone,
      hour: random(2) === 0 ? 'numeric' : '2-digit',
      minute: '2-digit',
      ...(hasSeconds ? { second: '2-digit' as const } : {}),
      ...(hasDate ? { day: 'numeric', month: 'numeric', year: 'numeric' } : {}),
      ...(random(2) === 0 ? { hour12: random(2) === 0 } : {}),
    }).format(until);
    const isOwn = random(2) === 0;
    inZone(isOwn ? zone : 'Asia/Tokyo', () => {
      const said = `You've hit your limit. Try again at ${text}${isOwn ? '' : ` (${zone})`}.`;
      const found = findResetTime(said, now);
      const about = `${said} heard at ${new Date(now).toISOString()} in ${zone}, meant ${new Date(until).toISOString()}`;
      assert.ok(found !== null, about);
      assert.ok(found > now, about);
      const late = found - until;
      // An ambiguous hour may be either one; an ambiguous day and month, the earlier date.
      if (hasDate && text.includes('/')) return;
      const isTwice = late >= -3_600_000 && late < 0;
      if (isTwice) assert.notEqual(offsetAround(zone, until), 0, about);
      else
        assert.ok(
          until <= now ? found === now + MINUTE || late <= 61 * MINUTE : late <= MINUTE || late === 3_600_000,
          about,
        );
    });
  }
});

/** Returns by how much a zone's offset changes within three hours of a time, ms. */
function offsetAround(zone: string, time: number): number {
  const hour = (at: number): number =>
    Date.parse(`${new Date(at).toLocaleString('sv-SE', { timeZone: zone }).replace(' ', 'T')}Z`) - at;
  return hour(time + 3 * 3_600_000) - hour(time - 3 * 3_600_000);
}

test('no message yields a time in the past or far away', () => {
  const random = createRandom(11);
  const words = [
    'reset',
    'retry-after:',
    'again at',
    'in',
    '4:38',
    'AM',
    '2026-',
    '31.02.2026',
    '13',
    's',
    '|',
    '(',
    'Nov',
    '99',
    'wait',
    'Europe/Nowhere',
    '24:61',
    '1e9',
    'ago',
    '\u202f',
    'total',
    '-5',
  ];
  for (let round = 0; round < 3000; round += 1) {
    const text = Array.from({ length: random(30) }, () => words[random(words.length)]).join(
      random(3) === 0 ? '' : ' ',
    );
    const found = findResetTime(text, NOW);
    assert.ok(found === null || (found > NOW && found < NOW + 62 * DAY), `${text}: ${found}`);
  }
});
