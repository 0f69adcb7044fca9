import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadCommands } from '../../cli/catalogue.ts';
import { type Command, toKebabCase } from '../../cli/command.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));

const filesOf = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name));

/** The words after `svc` in a sentence about the program. */
const VERBS = new Set(
  'again alone and as below brings can cannot changes command commits coordinates could created creates did does ended engine follow for from has here in is itself keeps knows made makes may must needs never now of on opens or out program ran reads reran reruns runs says takes the this to when will with without writes wrote'.split(
    ' ',
  ),
);

/** Texts that tell a person or an agent what to type. */
function textsOf(path: string): string[] {
  const text = readFileSync(join(PROJECT, path), 'utf8');
  if (path.endsWith('.md')) {
    const fenced = /^```[\s\S]*?^```/gm;
    const prose = text.replace(fenced, '');
    const lines = (text.match(fenced) ?? []).flatMap((block) => block.match(/^(?:\$ )?svc .*$/gm) ?? []);
    return [...lines, ...(prose.match(/`[^`\n]+`/g) ?? [])];
  }
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  return code.match(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? [];
}

const LINE = /(?<![\w./-])svc ([a-z_][\w-]*)(?: ([a-z][a-z-]*))?((?: (?!svc )[^\s;,.`'")]+)*)/g;

/** Returns why a line with this start cannot be typed; null if it can. */
function problemWith(
  all: readonly Command[],
  [, first = '', second = '', rest = '']: RegExpExecArray,
): string | null {
  if (VERBS.has(first) || first === 'help') return null;
  const below = all.filter(({ name }) => name.split(' ')[0] === first);
  if (below.length === 0) return `no command svc ${first}`;
  const found =
    below.find(({ name }) => name === `${first} ${second}`) ?? below.find(({ name }) => name === first);
  if (found === undefined) return second === '' ? null : `no command svc ${first} ${second}`;
  if (found.verbatim) return null;
  const flags = [
    '--json',
    '--help',
    ...Object.keys(found.flags ?? {}).map((flag) => `--${toKebabCase(flag)}`),
  ];
  const strange = (rest.match(/ --[a-z][a-z-]*/g) ?? []).find((flag) => !flags.includes(flag.trim()));
  return strange === undefined ? null : `svc ${found.name} has no ${strange.trim()}`;
}

test('every command that hints, help and documents suggest exists, with its flags', async () => {
  const all = await loadCommands();
  const paths = [
    ...['engine', 'cli', 'tui'].flatMap((folder) => filesOf(folder, /\.tsx?$/)),
    ...filesOf('docs', /\.md$/),
    'README.md',
    'AGENTS.md',
  ];
  const wrong = paths.flatMap((path) =>
    textsOf(path).flatMap((text) =>
      [...text.matchAll(LINE)].flatMap((found) => {
        const problem = problemWith(all, found);
        return problem === null ? [] : [`${path}: ${problem}`];
      }),
    ),
  );
  assert.deepEqual(wrong, []);
});
