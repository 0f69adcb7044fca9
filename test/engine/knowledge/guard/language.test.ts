import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findNewLines } from '../../../../engine/knowledge/guard/copies/introduced.ts';
import { checkLanguage } from '../../../../engine/knowledge/guard/language/check-language.ts';
import { detectLanguage } from '../../../../engine/knowledge/guard/language/detect.ts';
import type { SourceLanguage } from '../../../../engine/knowledge/sources/index.ts';

const check = (
  path: string,
  language: SourceLanguage | null,
  text: string,
  before: string | null = null,
  wanted = 'en',
) =>
  checkLanguage({ path, text, language }, findNewLines(before, text), { prose: wanted, code: wanted }).map(
    ({ line, kind, found }) => `${line} ${kind} ${found}`,
  );

describe('the language of a text', () => {
  test('the language is recognised by script, else by words', () => {
    for (const [language, text] of [
      ['en', 'Returns the first entry that fits, or nothing'],
      ['de', 'Gibt den ersten Eintrag zurück, der passt'],
      ['fr', 'La connexion doit être fermée par celui qui appelle'],
      ['es', 'Espera hasta que el bloqueo esté libre'],
      ['ja', 'データベースを開けませんでした'],
      ['zh', '无法打开数据库，请稍后再试'],
      ['ru', 'Не удалось открыть файл'],
      ['uk', 'Ваші зміни збережено'],
      ['ko', '변경 사항이 저장되었습니다'],
    ] as const)
      assert.equal(detectLanguage(text)?.language, language, text);
  });

  test('the language of a very short text is unknown', () => {
    for (const text of ['', 'x', 'foo bar', '12 34', 'npm install', '→ …', 'lorem ipsum dolor', '\ud800'])
      assert.equal(detectLanguage(text), null, text);
  });
});

describe('texts in another language', () => {
  test('foreign texts are found in comments, strings and names', () => {
    const text = `/**
 * Reads the file.
 */
// Das hier ist nur eine Notiz für die anderen
const größe = 1;
const имя = 'x';
throw new Error("die Datei konnte nicht gelesen werden");
const short = "und so";
`;
    assert.deepEqual(check('a.ts', 'typescript', text), ['4 comment de', '6 name ru', '7 string de']);
  });

  test('foreign texts are reported on new lines only', () => {
    const before = '# Das ist nur ein alter Kommentar und bleibt so\nx = 1\n';
    assert.deepEqual(check('a.py', 'python', `${before}y = 2\n`, before), []);
    assert.deepEqual(check('a.py', 'python', `${before}# Noch eine Zeile, die nicht passt\n`, before), [
      '3 comment de',
    ]);
  });

  test('code, quotes, names, addresses and machine-read text are not foreign', () => {
    const text = `// eslint-disable-next-line no-und-die-der
// See "die Datei konnte nicht gelesen werden" in the log
// https://example.org/das/ist/nicht/die/datei
// const der = die.und(das);
// \`und das ist nicht die Datei\` is what it prints
const kunde = ladeKunde(daten, wert);
`;
    assert.deepEqual(check('a.ts', 'typescript', text), []);
    const prose = `---
titel: das ist nicht die Datei
---
# Title of the page

> Das ist ein Zitat und nicht von uns.

\`\`\`
das ist nur die Ausgabe und nicht der Text
\`\`\`

| das | ist | nicht | die | Tabelle |

Call \`die Datei\` as [this page](https://x.org/das-ist-die-datei) has it.
`;
    assert.deepEqual(check('a.md', null, prose), []);
  });

  test('texts of any form are checked in bounded time', () => {
    const long = 60_000;
    for (const part of ['a(', '[', 'a/', 'a@', 'a.', '"', "'", '<', '{', '-a ', 'a1', '1', 'ä', 'aA', '`'])
      for (const text of [
        part.repeat(long / part.length),
        `${`${part.repeat(500 / part.length)}\n`.repeat(long / 501)}`,
      ]) {
        check('a.md', null, text);
        check('a.ts', 'typescript', `/*${text}*/`);
        check('a.py', 'python', `# ${text}\nx = "${text}"\n`);
      }
  });

  test('foreign texts are found in documents, against the language required there', () => {
    const prose =
      'Das ist ein Absatz, der nicht auf Englisch ist.\n\nThis one is in English and nobody minds.\n';
    assert.deepEqual(check('a.md', null, prose), ['1 prose de']);
    assert.deepEqual(check('a.md', null, prose, null, 'de'), ['3 prose en']);
    assert.deepEqual(check('a.json', null, prose), []);
  });
});
