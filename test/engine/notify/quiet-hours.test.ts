import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findQuietEnd } from '../../../engine/notify/quiet-hours.ts';

const endAt = (text: string, at: string): string | null => {
  const end = findQuietEnd(text, Date.parse(at));
  return end === null ? null : new Date(end).toISOString();
};

const CASES: readonly (readonly [name: string, text: string, at: string, end: string | null])[] = [
  [
    'an evening lasts until the morning',
    '22:00-07:00 UTC',
    '2026-01-02T23:00:00Z',
    '2026-01-03T07:00:00.000Z',
  ],
  ['a morning ends on its day', '22:00-07:00 UTC', '2026-01-03T06:59:59Z', '2026-01-03T07:00:00.000Z'],
  ['the first moment is quiet', '22:00-07:00 UTC', '2026-01-02T22:00:00Z', '2026-01-03T07:00:00.000Z'],
  ['the last moment is not', '22:00-07:00 UTC', '2026-01-03T07:00:00Z', null],
  ['a lunch is within a day', '12:00-13:30 UTC', '2026-01-02T12:15:00Z', '2026-01-02T13:30:00.000Z'],
  ['an afternoon is not a lunch', '12:00-13:30 UTC', '2026-01-02T14:00:00Z', null],
  [
    'a zone ahead of UTC has its own night',
    '22:00-07:00 Asia/Tokyo',
    '2026-01-02T13:30:00Z',
    '2026-01-02T22:00:00.000Z',
  ],
  [
    'a zone far behind has it later',
    '22:00-07:00 Pacific/Honolulu',
    '2026-01-02T08:30:00Z',
    '2026-01-02T17:00:00.000Z',
  ],
  [
    'a night gets shorter in spring',
    '22:00-07:00 Europe/Berlin',
    '2026-03-28T22:00:00Z',
    '2026-03-29T05:00:00.000Z',
  ],
  [
    'a night gets longer in autumn',
    '22:00-07:00 Europe/Berlin',
    '2026-10-24T21:00:00Z',
    '2026-10-25T06:00:00.000Z',
  ],
  [
    'an end in the skipped hour comes all the same',
    '22:00-02:30 Europe/Berlin',
    '2026-03-28T23:00:00Z',
    '2026-03-29T01:30:00.000Z',
  ],
  ['no hours are never quiet', '', '2026-01-02T23:00:00Z', null],
];

for (const [name, text, at, end] of CASES)
  test(`quiet hours: ${name}`, () => assert.equal(endAt(text, at), end));

test('quiet hours without a zone are those of the machine', () => {
  const night = new Date(2026, 0, 2, 23, 0).toISOString();
  assert.equal(endAt('22:00-07:00', night), new Date(2026, 0, 3, 7, 0).toISOString());
});
