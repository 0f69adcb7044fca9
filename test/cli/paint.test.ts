import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPaint, findStateStyle, paintPatch, toPrintableStyled } from '../../cli/paint.ts';
import { formatFacts, formatRows } from '../../cli/print.ts';

const paint = createPaint(true);
const ESC = '\u001b';
const HOSTILE = `${ESC}]0;owned${ESC}\\${ESC}[31mred${ESC}[2J\u009b31m\u202e`;

const WRITTEN = '\\x1b]0;owned\\x1b\\\\x1b[31mred\\x1b[2J\\x9b31m\\u202e';

describe('colours', () => {
  test('colours are added to printable text only: a text cannot bring its own', async () => {
    const rows = await formatRows(
      [{ title: HOSTILE }],
      [{ head: 'title', value: ({ title }) => title, style: () => 'good' as const }],
      {},
      paint,
    );
    assert.equal(toPrintableStyled(rows), `${ESC}[32m${WRITTEN}${ESC}[m`);
    assert.equal(
      toPrintableStyled(formatFacts([['a', HOSTILE, 'bad']], paint)),
      `${ESC}[2ma${ESC}[m  ${ESC}[31m${WRITTEN}${ESC}[m`,
    );
  });

  test('colours are the only sequences that act on a terminal; all others are written out', () => {
    assert.equal(
      toPrintableStyled(`${ESC}[32mgood${ESC}[m ${ESC}[5mblinks${ESC}[H\u0007`),
      `${ESC}[32mgood${ESC}[m \\x1b[5mblinks\\x1b[H\\x07`,
    );
  });

  test('colours do not shift the columns of a table', async () => {
    const columns = [
      { head: 'id', value: (row: { id: string }) => row.id },
      { head: 'state', value: () => 'done', style: () => findStateStyle('done') },
      { head: 'n', value: () => 1, right: true },
    ];
    const out = { isTTY: true, columns: 80 };
    const rows = [{ id: 't-1' }, { id: 't-1000' }];
    const painted = await formatRows(rows, columns, out, paint);
    assert.notEqual(painted, await formatRows(rows, columns, out));
    assert.equal(
      painted.replaceAll(/\u001b\[\d*m/g, ''),
      'ID      STATE  N\nt-1     done   1\nt-1000  done   1',
    );
  });

  test("a patch has git's colours, and a removed line that looks like a header is a removed line", () => {
    const patch = [
      'diff --git a/x b/x',
      '--- a/x',
      '+++ b/x',
      '@@ -1,2 +1 @@ f()',
      ' same',
      '--- a/y',
      'diff --git a/y b/y',
    ];
    assert.deepEqual(paintPatch(patch.join('\n'), paint).split('\n'), [
      paint('strong', 'diff --git a/x b/x'),
      paint('strong', '--- a/x'),
      paint('strong', '+++ b/x'),
      `${paint('live', '@@ -1,2 +1 @@')} f()`,
      ' same',
      paint('bad', '--- a/y'),
      paint('strong', 'diff --git a/y b/y'),
    ]);
  });
});
