import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readCode } from '../../../../engine/knowledge/guard/code/read-code.ts';
import { findSyntax } from '../../../../engine/knowledge/guard/code/syntaxes.ts';
import { findCopies } from '../../../../engine/knowledge/guard/copies/find-copies.ts';
import { takeFingerprints } from '../../../../engine/knowledge/guard/copies/fingerprints.ts';
import { createHashIndex } from '../../../../engine/knowledge/guard/copies/hash-index.ts';
import { findNewLines, markNewTokens } from '../../../../engine/knowledge/guard/copies/introduced.ts';
import { chooseSamplings, fillCopySettings } from '../../../../engine/knowledge/guard/copies/settings.ts';
import type { SourceLanguage } from '../../../../engine/knowledge/sources/index.ts';
import { createDice } from '../../../support/gateway/mutants.ts';

const SETTINGS = fillCopySettings({ window: 0, min_tokens: 0, max_files: 0 });

/** Returns copies in `text` of the only other file. */
function compare(language: SourceLanguage, original: string, text: string, before: string | null = null) {
  const theirs = readCode(original, findSyntax(language));
  const index = { whole: createHashIndex(), edited: createHashIndex() };
  const samplings = chooseSamplings(SETTINGS);
  index.whole.add(7, takeFingerprints(theirs.tokens.shapes, samplings.whole));
  index.edited.add(7, takeFingerprints(theirs.tokens.shapes, samplings.edited));
  const mine = readCode(text, findSyntax(language));
  return findCopies(mine, markNewTokens(mine.tokens, findNewLines(before, text)), {
    index,
    settings: SETTINGS,
    open: (number) => (number === 7 ? theirs : null),
    isLate: () => false,
  }).copies;
}

const SUM = `
export function sumByDay(entries, zone) {
  const sums = new Map();
  for (const entry of entries) {
    if (entry.amount <= 0 || entry.isVoid) continue;
    const day = formatDay(entry.at, zone);
    const before = sums.get(day) ?? 0;
    sums.set(day, before + entry.amount * (1 + entry.tax / 100));
  }
  return [...sums].sort(([one], [other]) => (one < other ? -1 : 1));
}
`;

describe('finding copies', () => {
  test('an exact copy is type 1, with any white space and comments', () => {
    const [copy] = compare(
      'javascript',
      SUM,
      `// anew\n${SUM.replaceAll('  ', '\t').replaceAll(' = ', '=')}`,
    );
    assert.equal(copy?.type, 1);
    assert.equal(copy?.coverage, 1);
    assert.equal(copy?.theirName, 'sumByDay');
    assert.deepEqual([copy?.theirFrom, copy?.theirTo, copy?.from], [2, 11, 3]);
  });

  test('a copy with other names and literals is type 2, as long as one renaming explains them', () => {
    const renamed = SUM.replaceAll('entry', 'row').replaceAll('sums', 'totals').replaceAll('100', '1000');
    assert.equal(compare('javascript', SUM, renamed)[0]?.type, 2);
    let count = 0;
    const scrambled = SUM.replaceAll(/\b(?:entry|sums|day|amount|before|zone)\b/g, () => {
      count += 1;
      return `x${count}`;
    });
    assert.deepEqual(compare('javascript', SUM, scrambled), []);
  });

  test('a copy with a statement more, less or changed is type 3', () => {
    const edited = SUM.replace('    const before', '    count += 1;\n    const before').replace(
      ' || entry.isVoid',
      '',
    );
    assert.equal(compare('javascript', SUM, edited)[0]?.type, 3);
  });

  test('imports, licence headers, data and the fields of a type are not code', () => {
    const licence = `/*\n${' * Permission is hereby granted, free of charge, to any person\n'.repeat(20)} */\n`;
    const imports = Array.from(
      { length: 30 },
      (_, at) => `import { a${at}, b${at} } from './c${at}.js';\n`,
    ).join('');
    const data = `export const TABLE = [\n${Array.from({ length: 40 }, (_, at) => `  { id: ${at}, name: 'n${at}', on: true },\n`).join('')}];\n`;
    const fields = `export interface Row {\n${Array.from({ length: 40 }, (_, at) => `  field${at}: string | null;\n`).join('')}}\n`;
    const text = licence + imports + data + fields;
    assert.deepEqual(compare('typescript', text, text), []);
  });

  test('only new code is reported: a change inside an old copy, a moved function and a short addition are not', () => {
    const other = 'export const one = 1;\n';
    assert.deepEqual(compare('javascript', SUM, SUM.replace('?? 0', '?? 1'), SUM), []);
    assert.deepEqual(compare('javascript', SUM, `${SUM}${other}`, `${other}${SUM}`), []);
    assert.deepEqual(compare('javascript', SUM, `${other}${SUM.slice(0, 150)}\n}}`, other), []);
    assert.equal(compare('javascript', SUM, `${other}${SUM}`, other).length, 1);
  });

  test('a repetitive line is not a copy of another one', () => {
    const lines = (name: string): string =>
      Array.from({ length: 30 }, (_, at) => `  ${name}.set('${name}${at}', make(${at}));\n`).join('');
    const one = `function fill(a) {\n${lines('a')}}\n`;
    const other = `function load(b) {\n${lines('b')}}\n`;
    assert.deepEqual(compare('javascript', one, other), []);
  });

  for (const [language, original, copy] of [
    [
      'python',
      `def load(path, seen):\n    rows = []\n    with open(path) as source:\n        for line in source:\n            key, _, value = line.partition("=")\n            if key.strip() in seen or not value:\n                continue\n            seen.add(key.strip())\n            rows.append((key.strip(), value.strip(), len(rows)))\n    return sorted(rows, key=lambda row: row[1])\n`,
      (text: string) => text.replaceAll('rows', 'found').replace('seen.add', '# once\n            seen.add'),
    ],
    [
      'go',
      `func (s *Store) Load(path string) ([]Row, error) {\n\tfile, err := os.Open(path)\n\tif err != nil {\n\t\treturn nil, fmt.Errorf("open %s: %w", path, err)\n\t}\n\tdefer file.Close()\n\tscan := bufio.NewScanner(file)\n\tvar rows []Row\n\tfor scan.Scan() {\n\t\trow, err := parse(scan.Text())\n\t\tif err != nil {\n\t\t\treturn nil, err\n\t\t}\n\t\trows = append(rows, row)\n\t}\n\treturn rows, scan.Err()\n}\n`,
      (text: string) => text.replaceAll('rows', 'list').replaceAll('scan', 'lines'),
    ],
    [
      'rust',
      `pub fn load<'a>(text: &'a str, seen: &mut HashSet<&'a str>) -> Vec<(&'a str, char)> {\n    let mut rows = Vec::new();\n    for line in text.lines() {\n        if let Some((key, value)) = line.split_once('=') {\n            if !seen.insert(key) || value.is_empty() {\n                continue;\n            }\n            rows.push((key, value.chars().next().unwrap_or('"')));\n        }\n    }\n    rows.sort_by(|one, other| one.0.cmp(other.0));\n    rows\n}\n`,
      (text: string) => text.replaceAll('rows', 'out'),
    ],
    [
      'bash',
      `load() {\n  local path=$1 count=0 line\n  while read -r line; do\n    case $line in\n      '#'*) continue ;;\n      *=*) count=$((count + 1)) ;;\n    esac\n    if [ "$count" -gt 10 ]; then\n      echo "too many in $path" >&2\n      return 1\n    fi\n  done < "$path"\n  echo "$count"\n}\n`,
      (text: string) => text.replaceAll('count', 'lines'),
    ],
    [
      'ruby',
      `def load(path, seen)\n  rows = []\n  File.foreach(path) do |line|\n    key, value = line.chomp.split("=", 2)\n    next if value.nil? || seen.include?(key)\n    seen << key\n    rows << { key: key, value: value.strip, at: rows.length + 1 }\n  end\n  rows.sort_by { |row| [row[:key], -row[:at]] }.first(100)\nend\n`,
      (text: string) => text.replaceAll('rows', 'list'),
    ],
  ] as const) {
    test(`a copy in ${language} is found, with its original function`, () => {
      const [found] = compare(language, `${original}`, copy(original));
      assert.equal(found?.type, 2);
      assert.equal(found?.theirName?.toLowerCase(), 'load');
      assert.ok((found?.coverage ?? 0) > 0.9, String(found?.coverage));
    });
  }

  test('any text is read to its end in bounded time', () => {
    const hostile = [
      '"',
      '`',
      '/*',
      "'''",
      '\\',
      '((((',
      '{'.repeat(20_000),
      '/'.repeat(20_000),
      '\u0000\ud800',
      'r#"',
      '<'.repeat(20_000),
    ];
    for (const language of ['typescript', 'python', 'rust', 'php', 'bash', 'swift'] as const)
      for (const text of hostile) readCode(text, findSyntax(language));
  });
});

describe('hostile texts', () => {
  const long = 100_000;
  for (const [what, text] of [
    ['the same call again and again', 'f(x);'.repeat(long / 5)],
    ['the same function again and again', SUM.repeat(long / SUM.length)],
    ['one block inside of the other', `${'{if(a){'.repeat(long / 7)}`],
    ['names of 300 KB', `const ${'a'.repeat(long)} = ${'b'.repeat(long)};`],
  ] as const)
    test(`${what} are compared with themselves in bounded time`, () => {
      compare('javascript', text, text);
    });
});

describe('fingerprints', () => {
  test('texts that share a run of min_tokens share a fingerprint, wherever it is', () => {
    const dice = createDice(5);
    const random = (length: number): number[] => Array.from({ length }, () => dice(50));
    const { whole } = chooseSamplings(SETTINGS);
    for (let round = 0; round < 200; round += 1) {
      const shared = random(SETTINGS.minTokens);
      const [one, other] = [0, 1].map(() =>
        takeFingerprints(Uint32Array.from([...random(dice(80)), ...shared, ...random(dice(80))]), whole),
      );
      assert.ok(
        one?.some((hash) => other?.includes(hash)),
        `round ${round}`,
      );
    }
  });
});
