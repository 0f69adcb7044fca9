import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Bench, bench, sessionRow, showWork, taskRow } from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const patchOf = (path: string, lines: number): string =>
  `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1,1 +1,${lines} @@\n-old\n${'+line\n'.repeat(lines)}`;

/** Opens the diff of these files in a terminal of this size. */
const open = (columns: number, rows: number, paths: readonly string[]): Bench =>
  showWork(
    bench(columns, rows).data({
      sessions: [sessionRow(1)],
      tasks: [taskRow(1, { status: 'done', session_id: 's-1' })],
    }),
    1,
    {
      files: paths.map((path) => ({ path, insertions: 20, deletions: 1 })),
      patch: { text: paths.map((path) => patchOf(path, 20)).join(''), truncated: false },
    },
  );

const SEVERAL = [
  'engine/one.ts',
  'engine/two.ts',
  'a/very/long/way/down/to/the/third/of/them/three.ts',
  'README.md',
];

/** The lines of the list of files, with one blank between words; null without such a list. */
function listFiles(dash: Bench): string[] | null {
  const lines = screenOf(dash.state());
  const from = lines.findIndex((line) => line.includes('─ files ─'));
  if (from === -1) return null;
  const at = lines[from]!.indexOf('╭─ files');
  const cells = lines.slice(from).map((line) => line.slice(at).split(/[╮│╯]/)[line[at] === '│' ? 1 : 0]!);
  return cells
    .slice(
      1,
      cells.findIndex((line) => line.startsWith('╰')),
    )
    .map((line) => line.replace(/ +/g, ' ').trim())
    .filter((line) => line !== '');
}

describe('the files of a diff', () => {
  it('are listed next to it, with their lines, and the one that is being read is marked', () => {
    const dash = open(140, 40, SEVERAL).keys('enter');
    assert.deepEqual(listFiles(dash), [
      '• engine/one.ts +20 -1',
      'engine/two.ts +20 -1',
      '…the/third/of/them/three.ts +20 -1',
      'README.md +20 -1',
    ]);
    for (const [key, marked] of [
      ['}', 'engine/one.ts'],
      ['}', 'engine/two.ts'],
      ['}', '…the/third/of/them/three.ts'],
      ['{', 'engine/two.ts'],
      [']', 'engine/two.ts'],
      [']', '…the/third/of/them/three.ts'],
      ['G', 'README.md'],
    ] as const)
      assert.ok(listFiles(dash.keys(key))?.includes(`• ${marked} +20 -1`), `${key} leads to ${marked}`);
    dash.keys('esc', 'g');
    assert.equal(listFiles(dash)![0], '• engine/one.ts +20 -1');
  });

  it('are listed only where the diff keeps its own room', () => {
    const isListed = (columns: number, rows: number, ...keys: string[]): boolean =>
      listFiles(open(columns, rows, SEVERAL).keys(...keys)) !== null;
    assert.ok(isListed(200, 50));
    assert.ok(isListed(200, 50, 'enter'));
    assert.ok(isListed(120, 34, 'enter'));
    assert.ok(!isListed(140, 40));
    assert.ok(!isListed(80, 24, 'enter'));
    // Both sides of a change need the room.
    const wide = open(160, 45, SEVERAL).keys('enter');
    assert.equal(listFiles(wide), null);
    assert.match(screenOf(wide.state()).join('\n'), /-old +│ +1 \+line/);
    assert.equal(listFiles(open(200, 50, ['one.ts']).keys('enter')), null);
  });

  it('have the current one in the middle of a list that is longer than the screen', () => {
    const paths = Array.from({ length: 90 }, (_, index) => `file-${index + 1}.ts`);
    const dash = open(140, 40, paths).keys('enter', ...Array.from({ length: 51 }, () => '}'));
    const files = listFiles(dash)!;
    assert.equal(files.length, 35);
    assert.equal(files[17], '• file-51.ts +20 -1');
    assert.equal(listFiles(dash.keys('G'))!.at(-1), '• file-90.ts +20 -1');
  });

  it('are listed once: without the lines that count them among the facts', () => {
    const count = (dash: Bench): number =>
      screenOf(dash.state()).filter((line) => /engine[/]two[.]ts +[|]/.test(line)).length;
    assert.equal(count(open(140, 40, SEVERAL)), 1);
    assert.equal(count(open(200, 50, SEVERAL)), 0);
    const narrow = screenOf(open(130, 30, SEVERAL).state()).join('\n');
    assert.match(narrow, /…ird\/of\/them\/three[.]ts +[|]/, 'the end of a long path stays');
  });
});
