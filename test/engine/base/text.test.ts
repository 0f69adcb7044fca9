import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import stringWidth from 'string-width';
import { age, counted, cut, localTime, printable, withLocalTimes } from '../../../engine/index.ts';

describe('text for a terminal', () => {
  test('of strangers holds no escape sequence, control character or change of direction', () => {
    assert.equal(
      printable('\u001b[31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007'),
      'red link',
    );
    assert.equal(printable('a\r\nb\u0007\u009b2Jc'), 'a b c');
    assert.equal(printable('left\u202egnp.exe'), 'leftgnp.exe');
    assert.equal(printable('one\ntwo\tthree\u0008', { lines: true }), 'one\ntwo\tthree');
  });

  test('is cut to its cells with an ellipsis in the last one, and left alone where it fits', () => {
    const cells = (text: string, width: number) => cut(text, width, stringWidth);
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
    assert.equal(cut('abc', 2, stringWidth), 'a…');
    assert.equal(cut('abc', 1, stringWidth), '…');
    assert.equal(cut('a', 1, stringWidth), 'a');
    assert.equal(cut('abc', 0, stringWidth), '');
    assert.equal(cut('abc', -3, stringWidth), '');
  });

  test('tells an age in the unit that fits', () => {
    const now = Date.parse('2026-01-02T00:00:00.000Z');
    const ago = (seconds: number) => age(new Date(now - seconds * 1000).toISOString(), now);
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
    assert.equal(age(null), '-');
  });

  test('tells a time of here, to the second', () => {
    assert.match(localTime('2026-01-02T03:04:05.678Z'), /^2026-01-0[123] \d\d:\d\d:05$/);
    const then = new Date(2026, 0, 2, 3, 4, 5);
    assert.equal(localTime(then.toISOString()), '2026-01-02 03:04:05');
    assert.equal(localTime(null), '-');
  });

  test('says times as the clock on the wall does, and leaves alone what it quotes', () => {
    const at = '2026-11-22T10:15:00.000Z';
    assert.equal(
      withLocalTimes(`ada holds src until ${at}; since ${at} too`),
      `ada holds src until ${localTime(at)}; since ${localTime(at)} too`,
    );
    for (const quoted of [`no task "${at}"`, `until ${at}-1`, `the branch ${at}`])
      assert.equal(withLocalTimes(quoted), quoted);
  });

  test('counts one thing as one', () => {
    assert.deepEqual(
      [counted(0, 'task'), counted(1, 'task'), counted(2, 'try', 'tries')],
      ['0 tasks', '1 task', '2 tries'],
    );
  });
});
