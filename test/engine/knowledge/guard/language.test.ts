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
  exclude: string[] = [],
) =>
  checkLanguage({ path, text, language }, findNewLines(before, text), {
    prose: wanted,
    code: wanted,
    exclude,
  }).map(({ line, kind, found, isAdvice }) => `${line} ${kind} ${found}${isAdvice ? ' (advice)' : ''}`);

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

  test('a translation may be in the language that its path names, and one that names none in any', () => {
    const german = 'export const text = { closed: "Die Datei ist nicht mehr da und wird nicht gelesen" };\n';
    for (const path of [
      'src/locales/de/app.ts',
      'src/de.ts',
      'messages.de-AT.ts',
      'messages_de.py',
      'i18n/index.ts',
      'web/translations/all.ts',
    ])
      assert.deepEqual(check(path, 'typescript', german), [], path);
    for (const path of ['src/app.ts', 'src/locales/fr/app.ts', 'src/xx.ts', 'src/ts/io.ts'])
      assert.deepEqual(check(path, 'typescript', german), ['1 string de'], path);
    assert.deepEqual(check('README.de.md', null, 'Das ist ein Absatz, der nicht auf Englisch ist.\n'), []);
    assert.deepEqual(check('i18n/index.ts', 'typescript', `// Das hier ist nur eine Notiz\n${german}`), [
      '1 comment de',
    ]);
  });

  test('strings in tests are judged by their script alone, and are only advice', () => {
    const text = `// Das hier ist nur eine Notiz
const latin = "die Datei konnte nicht gelesen werden";
const other = "не удалось открыть файл";
`;
    assert.deepEqual(check('src/a.test.ts', 'typescript', text), ['1 comment de', '3 string ru (advice)']);
  });

  test('files, folders and patterns can be excluded', () => {
    const german = '# Das hier ist nur eine Notiz\n';
    const exclude = ['docs/quotes', 'one.py', '**/*.fixture.py'];
    for (const path of ['docs/quotes/a.py', 'one.py', 'x/y.fixture.py', 'y.fixture.py'])
      assert.deepEqual(check(path, 'python', german, null, 'en', exclude), [], path);
    for (const path of ['docs/quotes.py', 'x/one.py', 'fixture.py'])
      assert.deepEqual(check(path, 'python', german, null, 'en', exclude), ['1 comment de'], path);
  });

  test('filler text is in no language', () => {
    const filler = '# Lorem ipsum dolor sit amet, det er som en del af den og det er med til en\n';
    assert.deepEqual(check('a.py', 'python', filler), []);
  });
});
