import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resetTimeIn } from '../../../../engine/workers/streams/reset-time.ts';

const NOW = Date.parse('2026-11-21T16:00:00Z');

test('when a limit is over is read from what agents say of it', () => {
  const table: [string, string | null][] = [
    ['Claude AI usage limit reached|1795286978', '2026-11-21T18:49:38Z'],
    ["You've hit your 5-hour limit · resets 6:49pm (UTC)", '2026-11-21T18:49:00Z'],
    ["You've hit your session limit · resets 3pm (UTC)", '2026-11-22T15:00:00Z'],
    ["You've hit your limit · resets 12am (UTC)", '2026-11-22T00:00:00Z'],
    ['5-hour limit reached ∙ resets 3pm (America/New_York)', '2026-11-21T20:00:00Z'],
    ["You've hit your weekly limit · resets Nov 24, 10am (Asia/Tokyo)", '2026-11-24T01:00:00Z'],
    ["You've hit your weekly limit · resets Nov 24 at 10:30am (Asia/Kolkata)", '2026-11-24T05:00:00Z'],
    ['resets Jan 2, 9am (UTC)', '2027-01-02T09:00:00Z'],
    ['Rate limit reached. Please try again in 20s.', '2026-11-21T16:00:20Z'],
    ['Please try again in 6m30.5s.', '2026-11-21T16:06:30.500Z'],
    ['try again in 350ms', '2026-11-21T16:00:00.350Z'],
    ["You've hit your usage limit. Try again in 2 days 3 hours 5 minutes.", '2026-11-23T19:05:00Z'],
    ['retry after 40 seconds', '2026-11-21T16:00:40Z'],
    ['Your quota will reset after 5h12m', '2026-11-21T21:12:00Z'],
    ['try again at 2026-11-22T08:00:00Z', '2026-11-22T08:00:00Z'],
    ['too many requests', null],
    ['it resets everything', null],
    ['try again later', null],
    ['limit reached|9999999999', null],
  ];
  for (const [text, expected] of table) {
    const found = resetTimeIn(text, NOW);
    assert.equal(
      found === null ? null : new Date(found).toISOString(),
      expected === null ? null : new Date(expected).toISOString(),
      text,
    );
  }
});
