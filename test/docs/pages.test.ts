import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readBlocks } from '../support/document.ts';
import { openReader } from '../support/terminals/reader.ts';
import { AGENT } from '../support/workspaces/workspace.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const PAGES = [
  'README.md',
  ...globSync('*.md', { cwd: PROJECT }).filter((path) => path !== 'README.md'),
  ...globSync('docs/**/*.md', { cwd: PROJECT }),
];
const read = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');
const withoutBlocks = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, '');

/** Returns the anchors of a page as code hosts derive them from its headings. */
const listAnchors = (path: string): string[] =>
  (withoutBlocks(read(path)).match(/^#+ .*$/gm) ?? []).map((heading) =>
    heading
      .replace(/^#+ /, '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );

test('every link of a page leads to an existing file and heading', () => {
  const wrong = PAGES.flatMap((page) =>
    [...withoutBlocks(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
      if (/^[a-z]+:/.test(link)) return [];
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : normalize(join(dirname(page), path));
      if (!existsSync(join(PROJECT, target))) return [`${page}: no file ${link}`];
      const isThere = anchor === undefined || listAnchors(target).includes(anchor);
      return isThere ? [] : [`${page}: no heading ${link}`];
    }),
  );
  assert.deepEqual(wrong, []);
});

test('the pictures of a busy day have their sizes, and show ten running agents and 300 tasks', () => {
  for (const [columns, rows, workers] of [
    [80, 24, 6],
    [120, 34, 10],
    [140, 40, 10],
    [200, 50, 10],
  ] as const) {
    const svg = read(`docs/pictures/busy-${columns}x${rows}.svg`);
    const size = /viewBox="0 0 (\d+) (\d+)"/.exec(svg)?.slice(1).map(Number);
    assert.deepEqual(size, [columns * 9 + 24, rows * 19 + 50]);
    const text = svg.replace(/<[^>]*>/g, ' ').replaceAll('\u00a0', ' ');
    assert.match(text, /10 live/);
    assert.match(text, /Work 300/);
    assert.equal(new Set(text.match(/\bt-\d+\s+running/g)).size, workers);
  }
});

test('the index of the documentation leads to every page', () => {
  const linked = new Set(
    [...read('docs/README.md').matchAll(/\]\(([\w/-]+\.md)\)/g)].map(([, path]) => `docs/${path}`),
  );
  const missing = PAGES.filter((page) => /^docs\/.+\//.test(page) && !linked.has(page));
  assert.deepEqual(missing, []);
});

/** Strings in the program, with … for inserted values. */
function listTexts(): string[] {
  return globSync('{engine,cli,tui}/**/*.{ts,tsx}', { cwd: PROJECT }).flatMap((path) =>
    (read(path).match(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g) ?? []).map((literal) =>
      literal.slice(1, -1).replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '…'),
    ),
  );
}

test('the program prints each message that docs/operate/troubleshooting.md explains', () => {
  const texts = new Set(listTexts());
  const messages = [...read('docs/operate/troubleshooting.md').matchAll(/^### `(.*)`$/gm)].map(
    ([, message]) => message!,
  );
  assert.ok(messages.length > 20);
  const isPrinted = (message: string): boolean =>
    texts.has(message) ||
    [...texts].some((text) => message.length > 12 && text.startsWith(message.replace(/ …$/, '')));
  assert.deepEqual(
    messages.filter((message) => !isPrinted(message)),
    [],
  );
});

test('the steps of docs/operate/uninstall.md leave nothing of svc behind, except the branch of unmerged work', async (t) => {
  const reader = await openReader(t);
  await reader.type(`git init --quiet shop
cd shop
git commit --quiet --allow-empty --message first
svc init
svc config set agents.cmds.scripted "'${process.execPath}' '${AGENT}' -- {{prompt}}"
svc task add first --agent scripted --prompt first --run --follow
svc worktree promote s-1
svc task add second --agent scripted --prompt second --run --follow
export npm_config_prefix=~/npm`);
  const git = (...words: string[]): string =>
    execFileSync('git', words, { cwd: join(reader.home, 'shop'), encoding: 'utf8' });
  const blocks = readBlocks('docs/operate/uninstall.md');
  const [remove, ...rest] = blocks;
  assert.match(await reader.type(remove?.text ?? '', remove?.at), /^s-2\b/m);
  assert.match(git('for-each-ref'), /refs\/heads\/svc\/s-2[\s\S]*refs\/svc\/pruned\/svc\/s-1/);
  await reader.follow(rest);
  assert.deepEqual(readdirSync(join(reader.home, 'shop')).sort(), ['.git', 'svc-demo.md']);
  assert.match(git('for-each-ref', '--format=%(refname)'), /^refs\/heads\/main\n$/);
  assert.equal(git('worktree', 'list').trim().split('\n').length, 1);
  assert.doesNotMatch(readFileSync(join(reader.home, 'shop/.git/info/exclude'), 'utf8'), /svc/);
  assert.deepEqual(existsSync(join(reader.home, '.config/svc')), false);
});
