import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeTitle, stripMarkdown } from '../../../../engine/core/base/text.ts';

test('marks of Markdown are removed from a line, and other signs stay', () => {
  for (const [line, text] of [
    ['## Fix the **bold** part of `parse()`', 'Fix the bold part of parse()'],
    ['``a ` b``', '``a ` b``'],
    ['2 ** 3 and 4 ** 5', '2 ** 3 and 4 ** 5'],
    ['__init__ and snake_case', '__init__ and snake_case'],
    ['#12 fails', '#12 fails'],
    ['a `` empty', 'a `` empty'],
    ['> see [the log](https://example.com/1)', 'see the log'],
  ] as const)
    assert.equal(stripMarkdown(line), text);
  assert.equal(makeTitle('\n# A `title`\nmore'), 'A title');
});
