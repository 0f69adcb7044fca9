import assert from 'node:assert/strict';
import test from 'node:test';
import stringWidth from 'string-width';
import rememberedWidth from '../../../tui/text/widths.ts';

test('a remembered width is the measured one', () => {
  const texts = [
    '',
    'plain',
    '│ box',
    '日本語',
    '👩‍👩‍👧‍👦 and e\u0301',
    '\u001b[31mred é\u001b[39m',
    '\u0007bell',
    'a\tb',
  ];
  // More texts than the cache holds.
  for (let index = 0; index < 5000; index += 1) texts.push(`é ${index}`);
  for (const text of [...texts, ...texts.slice(0, 10)])
    assert.equal(rememberedWidth(text), stringWidth(text));
  assert.equal(
    rememberedWidth('\u001b[31m', { countAnsiEscapeCodes: true }),
    stringWidth('\u001b[31m', { countAnsiEscapeCodes: true }),
  );
});
