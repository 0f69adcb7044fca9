import assert from 'node:assert/strict';
import { chmodSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readChangedLines } from '../../../../../../engine/workers/runner/worktrees/inspect/changed-lines.ts';
import { makeRepository, openTestGit, type TestRepository } from '../../../../../support/workspaces/git.ts';

describe('changed lines', () => {
  let repository: TestRepository;
  const read = async (to: string | null = null, folder = repository.root) => {
    const found = await readChangedLines(folder, openTestGit(), { from: 'HEAD~1', to });
    return found === null ? null : { files: Object.fromEntries(found.files), removed: found.removed };
  };
  before(() => {
    repository = makeRepository();
    const first = {
      'src/a.txt': 'a\nb\nc\nd\ne\n',
      'src/gone.txt': 'x\n',
      'src/old.txt': 'one\ntwo\nthree\n',
    };
    repository.commit({ ...first, 'src/link.txt': 'y\n', 'src/mode.sh': 'z\n', 'top.txt': '1\n' }, 'first');
    repository.commit({ 'src/a.txt': 'a\nB\nc\ne\n', 'src/new file.txt': 'n\n' }, 'second');
  });
  after(() => rmSync(repository.folder, { recursive: true, force: true }));

  test('changed lines between commits: changed ones, gaps where lines are missing, all of a new file', async () => {
    assert.deepEqual(await read('HEAD'), {
      files: {
        'src/a.txt': [
          { from: 2, to: 2, isGap: false },
          { from: 3, to: 4, isGap: true },
        ],
        'src/new file.txt': null,
      },
      removed: [],
    });
    assert.equal(await read('no-such-commit'), null);
  });

  test('changed lines of the current files: moved, removed, linked, with another mode, unknown to git', async () => {
    rmSync(join(repository.root, 'src/gone.txt'));
    repository.git('mv', 'src/old.txt', 'src/mo"ved\t.txt');
    repository.write('src/mo"ved\t.txt', 'one\ntwo\nthree\nfour\n');
    rmSync(join(repository.root, 'src/link.txt'));
    symlinkSync('a.txt', join(repository.root, 'src/link.txt'));
    chmodSync(join(repository.root, 'src/mode.sh'), 0o755);
    repository.write('top.txt', '1\n2\n');
    repository.write('src/fresh.txt', 'diff --git a/x b/x\n@@ -1 +1 @@\n');
    const found = await read();
    assert.deepEqual(found?.removed, ['src/gone.txt']);
    assert.deepEqual(found?.files['src/mo"ved\t.txt'], [{ from: 4, to: 4, isGap: false }]);
    assert.deepEqual(found?.files['src/mode.sh'], []);
    assert.equal(found?.files['src/fresh.txt'], null);
    // The file follows the link, which has two sections in the patch.
    assert.deepEqual(found?.files['top.txt'], [{ from: 2, to: 2, isGap: false }]);
    const below = await read(null, join(repository.root, 'src'));
    assert.deepEqual(
      Object.keys(below?.files ?? {})
        .sort()
        .slice(0, 2),
      ['a.txt', 'fresh.txt'],
    );
  });
});
