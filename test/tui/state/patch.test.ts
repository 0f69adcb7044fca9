import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { findLineAnchor, parsePatch } from '../../../tui/state/patch.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

describe('the rows of a patch that git has printed', () => {
  const folder = temporaryFolder('svc-patch-');
  after(() => rmSync(folder, { recursive: true, force: true }));
  const git = (...words: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
      cwd: folder,
      encoding: 'utf8',
    });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const lines = (from: number, to: number): string =>
    Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('');

  it('each row has the file and the number of its line on both sides, for any content', () => {
    git('init', '-q');
    write('a b.txt', lines(1, 30));
    write('odd "ä\t.txt', 'one\ntwo\n');
    write('gone.txt', 'was here\n');
    write('old.txt', lines(1, 20));
    write('bytes', '\0\0');
    git('add', '-A');
    git('commit', '-qm', 'first');
    write('a b.txt', `+++ b/not a name\n${lines(1, 10)}-- sql\n@@ -1 +1 @@\n${lines(11, 29)}`);
    write('odd "ä\t.txt', 'one\r\nTWO');
    write('bytes', '\0\0\0');
    write('new.txt', 'new\n');
    rmSync(join(folder, 'gone.txt'));
    git('mv', 'old.txt', 'sub.txt');
    write('sub.txt', `${lines(1, 19)}changed\n`);
    git('add', '-A');
    git('commit', '-qm', 'second');
    const patch = git('diff-tree', '-r', '-p', '--find-renames', 'HEAD~1', 'HEAD');
    const rows = parsePatch(patch);
    assert.equal(rows.map(({ text }) => `${text}\n`).join(''), patch);
    let seen = 0;
    for (const row of rows) {
      const anchor = findLineAnchor(row);
      if (anchor === null) continue;
      const commit = anchor.side === 'new' ? 'HEAD' : 'HEAD~1';
      const line = git('show', `${commit}:${anchor.path}`).split('\n')[anchor.line - 1];
      assert.equal(row.text.slice(1), line, JSON.stringify(anchor));
      seen += 1;
    }
    assert.ok(seen > 20, `${seen} lines`);
    const paths = new Set(rows.flatMap((row) => findLineAnchor(row)?.path ?? []));
    assert.deepEqual([...paths].sort(), [
      'a b.txt',
      'gone.txt',
      'new.txt',
      'odd "ä\t.txt',
      'old.txt',
      'sub.txt',
    ]);
  });

  it('an empty patch has no rows', () => {
    assert.deepEqual(parsePatch(''), []);
  });
});
