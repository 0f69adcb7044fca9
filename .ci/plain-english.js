// Refuses phrases that a native writer would not use, in messages, comments, docs and test names:
// `node .ci/plain-english.js [folder]`. Prints each with its file and line; exits 1.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '..'));

/** Each phrase with its replacement. */
const PHRASES = [
  [/\b(?<!there )(?:is|are) no (?!longer\b|more\b|one\b|problem\b)[a-z]+/i, 'is not a …, invalid …'],
  [/\bgo(?:es|ing)? on\b/i, 'continue, resume'],
  [/\banew\b/i, 'again'],
  [/\bwho(?:ever|mever)\b/i, 'the caller, anyone who'],
  [/\bmeanwhile\b/i, 'since then, in the meantime'],
  [/\b(?:nobody|somebody)\b/i, 'no one, someone, or the passive'],
  [/\b(?:is|are|was|were) told\b/i, 'is notified, receives'],
  [/\bof (?:its|their|his|her) own\b/i, 'its own …, a separate …'],
];
/** A sentence that opens with a clause in place of its subject. */
const OPENING = /(?:^|[.!?] )(?:What|Whether|Who|Whose|Whom)\b(?! sent\b)(?![^.?!]*\?)/;

/** Language data, output of other programs, and texts that quote them. */
const EXEMPT =
  /synonym|stop-words|light-words|\/migrations\/|refusal-patterns|^docs\/reference\/translation\.md/;

/** Finds literals and JSX text with at least three words, but no SQL. */
function listMessages(text) {
  return text.split('\n').flatMap((line, at) => {
    const code = line.trim();
    if (/^(?:\/\/|\*|\/\*|import\b)/.test(code)) return [];
    return [...code.matchAll(/(['"`])((?:\\.|(?!\1).)*)\1/g)]
      .map(([, , words]) => words.replace(/\$\{[^}]*\}/g, 'X'))
      .filter(
        (words) => /\w \w+ \w/.test(words) && !/\b(?:SELECT|INSERT|UPDATE|WHERE|CREATE|DELETE)\b/.test(words),
      )
      .map((words) => ({ line: at + 1, text: words }));
  });
}

const listComments = (text) =>
  text.split('\n').flatMap((line, at) => {
    const [, words] = /^\s*(?:\/\/|\/?\*+)\s+(.*?)(?:\s*\*\/)?$/.exec(line) ?? [];
    return words === undefined ? [] : [{ line: at + 1, text: words.replace(/`[^`]*`/g, 'X') }];
  });

const listTestNames = (text) =>
  text.split('\n').flatMap((line, at) => {
    const name = /^\s*(?:it|test|describe)\(\s*(['"`])(.*?)\1/.exec(line)?.[2];
    return name === undefined ? [] : [{ line: at + 1, text: name }];
  });

/** Blanks code blocks and comments of a page, so that lines keep their numbers. */
const listProse = (text) =>
  text
    .replace(/```[\s\S]*?```|<!--[\s\S]*?-->|`[^`\n]*`/g, (block) => block.replace(/[^\n]/g, ' '))
    .split('\n')
    .map((line, at) => ({ line: at + 1, text: line.trim() }));

const SOURCES = [
  ['{engine,cli,tui}/**/*.{ts,tsx}', listMessages],
  ['{engine,cli,tui,test}/**/*.{ts,tsx}', listComments],
  ['test/**/*.test.{ts,tsx}', listTestNames],
  ['{docs/**/*,*}.md', listProse],
];

const files = new Set();
let offenders = 0;
for (const [pattern, listTexts] of SOURCES)
  for (const file of globSync(pattern, { cwd: root }).sort()) {
    if (EXEMPT.test(file)) continue;
    files.add(file);
    for (const { line, text } of listTexts(readFileSync(join(root, file), 'utf8'))) {
      const found = PHRASES.find(([phrase]) => phrase.test(text));
      const [phrase] = found?.[0].exec(text) ?? OPENING.exec(text) ?? [];
      if (phrase === undefined) continue;
      offenders += 1;
      console.error(
        `${file}:${line}: "${phrase.trim()}" (${found?.[1] ?? 'start with the subject'}): ${text.slice(0, 100)}`,
      );
    }
  }
if (files.size === 0) console.error(`no texts in ${root}`);
else console.log(`plain English: ${files.size} files, ${offenders} offenders`);
process.exitCode = offenders > 0 || files.size === 0 ? 1 : 0;
