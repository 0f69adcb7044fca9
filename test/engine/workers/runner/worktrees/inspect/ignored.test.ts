import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createWorktrees } from '../../../../../../engine/workers/runner/worktrees/index.ts';
import { gitEnvironment, makeRepository } from '../../../../../support/workspaces/git.ts';

for (const [what, bytes, kept] of [
  ['a few bytes that git ignores are named when their worktree goes', 10, false],
  ['megabytes that git ignores are kept, and where is said', 6 * 1024 * 1024, true],
] as const)
  test(what, async (t) => {
    const repository = makeRepository();
    t.after(repository.remove);
    const { root, folder } = repository;
    repository.commit({ '.gitignore': '*.dat\nnode_modules\nout\n' });
    const agentsDir = join(folder, 'agents');
    const worktrees = createWorktrees({ env: gitEnvironment(), agentsDir });
    const worktreePath = join(folder, 'worktrees', 's-1');
    await worktrees.create({ repositoryPath: root, projectPath: root, worktreePath, branch: 'svc/s-1' });
    for (const name of ['node_modules', 'out']) mkdirSync(join(worktreePath, name));
    writeFileSync(join(worktreePath, 'node_modules', 'huge'), Buffer.alloc(8 * 1024 * 1024));
    writeFileSync(join(worktreePath, 'data.dat'), Buffer.alloc(bytes, 'x'));
    // Links are not followed.
    symlinkSync(root, join(worktreePath, 'out', 'link'));
    const plan = await worktrees.planPrune({
      repository: root,
      base: 'main',
      keep: () => false,
      isOurs: () => true,
    });
    const { removed, refused } = await worktrees.prune(plan);
    assert.deepEqual([removed.length, refused, existsSync(worktreePath)], [1, [], false]);
    const aside = join(agentsDir, 's-1', 'ignored');
    const [sentence] = removed[0]?.ignored ?? [];
    assert.equal(
      sentence,
      kept
        ? `ignored files of 6 MB are kept in ${aside}: data.dat, out`
        : 'ignored files went with the worktree: data.dat, out',
    );
    assert.equal(existsSync(join(aside, 'data.dat')), kept);
    if (kept) assert.equal(readFileSync(join(aside, 'data.dat')).length, bytes);
    assert.equal(existsSync(join(aside, 'node_modules')), false);
    assert.equal(readFileSync(join(root, 'README.md'), 'utf8'), 'one\ntwo\nthree\n');
  });
