import assert from 'node:assert/strict';
import { test } from 'node:test';
import stringWidth from 'string-width';
import { hasSureWidth } from '../../../tui/text/cells.ts';
import { isNarrow } from '../../../tui/text/narrow.ts';
import { createSegmenter } from '../../../tui/text/segmenter.ts';
import { cleanText } from '../../../tui/text/text.ts';

const UNITS = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit));
const narrow = UNITS.filter(isNarrow);

test('a narrow text has a sure width of one cell for each unit, and nothing to clean', () => {
  assert.ok(narrow.length > 800);
  for (const one of narrow) {
    assert.ok(hasSureWidth(one) && cleanText(one) === one, one);
    for (const other of ['a', '│', '®', '→', 'ʰ'])
      assert.deepEqual([stringWidth(one + other), stringWidth(other + one)], [2, 2], one + other);
  }
});

test('a simple text is split as Intl.Segmenter does, with the cluster at each position', () => {
  const intl = new Intl.Segmenter();
  const own = createSegmenter();
  const controls = UNITS.slice(0, 32);
  const texts = [
    '',
    ...controls.flatMap((one) => [...controls, 'a', '│', '\u0301'].map((other) => `x${one}${other}y`)),
    ...narrow.map((one) => `${one}${one}\u001b[1m${one}`),
    'e\u0301x',
    '👩‍👩‍👧 and 한국어',
  ];
  for (const text of texts) {
    assert.deepEqual([...own.segment(text)], [...intl.segment(text)], JSON.stringify(text));
    for (let at = -1; at <= text.length; at += 1)
      assert.deepEqual(own.segment(text).containing(at), intl.segment(text).containing(at));
  }
});
