import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import stringWidth from 'string-width';
import {
  countUnseen,
  cutToWidth,
  describeUnseen,
  formatAge,
  formatClockTime,
  formatCount,
  formatLocalTime,
  localizeTimes,
  renderLog,
  renderLogLine,
  toPrintable,
  toPrintableJson,
} from '../../../../engine/core/base/text.ts';

describe('text for a terminal', () => {
  test('control characters of untrusted text are written out, and nothing between two of them is lost', () => {
    assert.equal(
      toPrintable('\u001b[31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007'),
      '\\x1b[31mred\\x1b[0m \\x1b]8;;http://x\\x07link\\x1b]8;;\\x07',
    );
    for (const [begin, end] of [
      ['\u001b]0;', '\u0007'],
      ['\u001b]0;', '\u001b\\'],
      ['\u001bP', '\u001b\\'],
      ['\u001b_', '\u001b\\'],
      ['\u001b^', '\u001b\\'],
      ['\u001bX', '\u001b\\'],
      ['\u009d', '\u009c'],
      ['\u0090', '\u009c'],
      ['\u001b[', 'm'],
    ] as const)
      for (const lines of [true, false]) {
        const shown = toPrintable(`a${begin}curl x | sh${end}b`, { lines });
        assert.ok(shown.includes('curl x | sh'), JSON.stringify(shown));
        assert.match(shown, /^[ -~]+$/);
      }
    assert.equal(toPrintable('a\r\nb\u0007\u009b2Jc'), 'a b\\x07\\x9b2Jc');
    assert.equal(toPrintable('rm -rf /\rsafe\r\n', { lines: true }), 'rm -rf /\\x0dsafe\n');
    assert.equal(toPrintable('left\u202egnp.exe'), 'left\\u202egnp.exe');
    assert.equal(toPrintable('one\ntwo\tthree\u0008', { lines: true }), 'one\ntwo\tthree\\x08');
  });

  test('every invisible character is written out and counted, in the tag plane too', () => {
    const unseen = [
      ...[
        '\u00ad',
        '\u034f',
        '\u061c',
        '\u115f',
        '\u1160',
        '\u17b4',
        '\u180b',
        '\u180e',
        '\u200b',
        '\u200d',
        '\u200e',
      ],
      ...[
        '\u2028',
        '\u202e',
        '\u2060',
        '\u2064',
        '\u2066',
        '\u206f',
        '\u2800',
        '\u3164',
        '\ufe00',
        '\ufe0f',
        '\ufeff',
      ],
      ...['\uffa0', '\ufff9', '\u0000', '\u007f', '\u0085', '\ue000', '\ud800'],
      ...['\u{1d173}', '\u{e0001}', '\u{e0041}', '\u{e007f}', '\u{e0100}', '\u{10ffff}'],
    ];
    for (const each of unseen) {
      const number = each.codePointAt(0)!.toString(16);
      const shown = toPrintable(`a${each}b`);
      assert.match(shown, new RegExp(`^a\\\\[xu]\\{?0*${number}\\}?b$`));
      assert.equal(countUnseen(`a${each}b${each}`), 2, number);
      assert.equal(toPrintable(shown), shown, 'escaping is idempotent');
      assert.equal(JSON.parse(toPrintableJson(`a${each}b`)), `a${each}b`);
      assert.match(toPrintableJson(`a${each}b`), /^[ -~]+$/);
    }
    assert.equal(describeUnseen(0), null);
    assert.equal(describeUnseen(1), 'contains 1 invisible character');
    assert.equal(describeUnseen(2), 'contains 2 invisible characters');
  });

  test('words of every script and emoji stay whole', () => {
    const seen = 'Grüße, текст, نص, 日本語, हिन्दी, 👩‍👩‍👧 ⚠️ 1️⃣ 🏳️‍🌈 👍🏽 🇩🇪 ✔️\tx\n';
    assert.equal(toPrintable(seen, { lines: true }), seen);
    assert.equal(countUnseen(`${seen}a\r\n`), 0);
    // Elsewhere the same characters are invisible.
    assert.equal(toPrintable('a\ufe0fb\u200dc'), 'a\\ufe0fb\\u200dc');
    assert.equal(toPrintable('👩\u200d\u200d👩'), '👩\\u200d\\u200d👩');
    assert.equal(countUnseen('🏴\u{e0067}\u{e0062}\u{e007f}'), 3);
  });

  test('a log is shown as a terminal leaves it: the last state of each line, without colours', () => {
    assert.equal(
      renderLog('\u001b[32mbegin\u001b[0m\n 1%\r 50%\r\u001b[K100%\r\nend\r\n\r\nhalf\r'),
      'begin\n100%\nend\n\nhalf',
    );
    assert.equal(renderLog('a\u001b]0;words\u0007b\u200b'), 'a\\x1b]0;words\\x07b\\u200b');
    // The scan of a line without an end is linear.
    assert.equal(renderLog(`${'\r'.repeat(2_000_000)}x`), 'x');
  });

  test('a text is cut to its cells with a final ellipsis, and left alone where it fits', () => {
    const cells = (text: string, width: number) => cutToWidth(text, width, stringWidth);
    assert.equal(cells('abcdef', 6), 'abcdef');
    assert.equal(cells('abcdef', 5), 'abcd…');
    assert.equal(cells('', 0), '');
    // A wide character that does not fit completely is left out.
    assert.equal(cells('日本語', 6), '日本語');
    assert.equal(cells('日本語', 5), '日本…');
    assert.equal(cells('日本語', 4), '日…');
    assert.equal(cells('👩‍👩‍👧 family', 4), '👩‍👩‍👧 …');
    assert.equal(cells('e\u0301e\u0301e\u0301', 2), 'e\u0301…');
  });

  test('a text in hardly any room is an ellipsis, and in no room empty', () => {
    assert.equal(cutToWidth('abc', 2, stringWidth), 'a…');
    assert.equal(cutToWidth('abc', 1, stringWidth), '…');
    assert.equal(cutToWidth('a', 1, stringWidth), 'a');
    assert.equal(cutToWidth('abc', 0, stringWidth), '');
    assert.equal(cutToWidth('abc', -3, stringWidth), '');
  });

  test('an age is shown in a suitable unit', () => {
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
    assert.equal(ago(-5), '0s', 'two clocks may differ');
    assert.equal(formatAge(null), '-');
  });

  test('a time is shown in local time, to the second', () => {
    assert.match(formatLocalTime('2026-01-02T03:04:05.678Z'), /^2026-01-0[123] \d\d:\d\d:05$/);
    const then = new Date(2026, 0, 2, 3, 4, 5);
    assert.equal(formatLocalTime(then.toISOString()), '2026-01-02 03:04:05');
    assert.equal(formatLocalTime(null), '-');
  });

  test('times in a sentence are shown in local time, and quoted ones are left alone', () => {
    const at = '2026-11-22T10:15:00.000Z';
    assert.equal(
      localizeTimes(`ada holds src until ${at}; since ${at} too`),
      `ada holds src until ${formatClockTime(at)}; since ${formatClockTime(at)} too`,
    );
    for (const quoted of [`no task "${at}"`, `until ${at}-1`, `the branch ${at}`])
      assert.equal(localizeTimes(quoted), quoted);
  });

  test('the log of a worker that asks shows until when it waits in local time, to the minute', () => {
    const now = Date.now();
    const at = new Date(now).toISOString();
    assert.match(renderLogLine(`\u2192 ask 1 waits for the Chair, until ${at}`), /until \d\d:\d\d$/);
    assert.equal(formatClockTime('2026-11-22T10:15:00.000Z', now).length, 11);
    assert.equal(renderLogLine(`{"at":"${at}"}`), `{"at":"${at}"}`);
  });

  test('one item is counted in the singular', () => {
    assert.deepEqual(
      [formatCount(0, 'task'), formatCount(1, 'task'), formatCount(2, 'try', 'tries')],
      ['0 tasks', '1 task', '2 tries'],
    );
  });
});
