import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import stringWidth from 'string-width';
import {
  cutToWidth,
  formatAge,
  formatCount,
  formatLocalTime,
  localizeTimes,
  toPrintable,
} from '../../../engine/index.ts';

describe('text for a terminal', () => {
  test('of strangers holds no escape sequence, control character or change of direction', () => {
    assert.equal(
      toPrintable('\u001b[31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007'),
      'red link',
    );
    assert.equal(toPrintable('a\r\nb\u0007\u009b2Jc'), 'a b c');
    assert.equal(toPrintable('left\u202egnp.exe'), 'leftgnp.exe');
    assert.equal(toPrintable('one\ntwo\tthree\u0008', { lines: true }), 'one\ntwo\tthree');
  });

  test('is cut to its cells with an ellipsis in the last one, and left alone where it fits', () => {
    const cells = (text: string, width: number) => cutToWidth(text, width, stringWidth);
    assert.equal(cells('abcdef', 6), 'abcdef');
    assert.equal(cells('abcdef', 5), 'abcd…');
    assert.equal(cells('', 0), '');
    // A wide character that would need half of its room is left out whole.
    assert.equal(cells('日本語', 6), '日本語');
    assert.equal(cells('日本語', 5), '日本…');
    assert.equal(cells('日本語', 4), '日…');
    assert.equal(cells('👩‍👩‍👧 family', 4), '👩‍👩‍👧 …');
    assert.equal(cells('e\u0301e\u0301e\u0301', 2), 'e\u0301…');
  });

  test('where there is hardly any room is an ellipsis, where there is none nothing', () => {
    assert.equal(cutToWidth('abc', 2, stringWidth), 'a…');
    assert.equal(cutToWidth('abc', 1, stringWidth), '…');
    assert.equal(cutToWidth('a', 1, stringWidth), 'a');
    assert.equal(cutToWidth('abc', 0, stringWidth), '');
    assert.equal(cutToWidth('abc', -3, stringWidth), '');
  });

  test('tells an age in the unit that fits', () => {
    const now = Date.parse('2026-01-02T00:00:00.000Z');
    const ago = (seconds: number) => formatAge(new Date(now - seconds * 1000).toISOString(), now);
    assert.deepEqual([0, 99, 100, 5940, 6000, 71 * 3600, 72 * 3600].map(ago), [
      '0s',
      '99s',
      '2m',
      '99m',
      '2h',
      '71h',
      '3d',
    ]);
    assert.equal(ago(-5), '0s', 'clocks of two programs may differ');
    assert.equal(formatAge(null), '-');
  });

  test('tells a time of here, to the second', () => {
    assert.match(formatLocalTime('2026-01-02T03:04:05.678Z'), /^2026-01-0[123] \d\d:\d\d:05$/);
    const then = new Date(2026, 0, 2, 3, 4, 5);
    assert.equal(formatLocalTime(then.toISOString()), '2026-01-02 03:04:05');
    assert.equal(formatLocalTime(null), '-');
  });

  test('says times as the clock on the wall does, and leaves alone what it quotes', () => {
    const at = '2026-11-22T10:15:00.000Z';
    assert.equal(
      localizeTimes(`ada holds src until ${at}; since ${at} too`),
      `ada holds src until ${formatLocalTime(at)}; since ${formatLocalTime(at)} too`,
    );
    for (const quoted of [`no task "${at}"`, `until ${at}-1`, `the branch ${at}`])
      assert.equal(localizeTimes(quoted), quoted);
  });

  test('counts one thing as one', () => {
    assert.deepEqual(
      [formatCount(0, 'task'), formatCount(1, 'task'), formatCount(2, 'try', 'tries')],
      ['0 tasks', '1 task', '2 tries'],
    );
  });
});
