import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import {
  type RefWatch,
  watchRefs,
} from '../../../../../../engine/workers/runner/worktrees/inspect/watch-refs.ts';
import { until } from '../../../../../support/wait.ts';
import { makeRepository, type TestRepository } from '../../../../../support/workspaces/git.ts';

describe('noticing moved branches', () => {
  let repository: TestRepository;
  let watch: RefWatch;
  let moves = 0;

  beforeEach(() => {
    repository = makeRepository();
    moves = 0;
    watch = watchRefs({ common: join(repository.root, '.git'), beside: [] }, () => {
      moves += 1;
    });
  });
  afterEach(() => {
    watch.close();
    repository.remove();
  });

  async function isNoticed(what: string, move: () => void): Promise<void> {
    const before = moves;
    move();
    await until(() => moves > before, what);
  }

  test('commits, new branches in new folders, packed and removed branches are noticed', async () => {
    const git =
      (...words: string[]) =>
      () =>
        void repository.git(...words);
    await isNoticed('a commit', () => void repository.commit({ 'a.txt': 'a\n' }));
    await isNoticed('a branch', git('branch', 'svc/s-1'));
    await isNoticed('a branch in a folder of its own', git('branch', 'deep/er/one'));
    await isNoticed('a commit on it', git('branch', '--force', 'deep/er/one', 'HEAD~1'));
    await isNoticed('that they are packed', git('pack-refs', '--all', '--prune'));
    await isNoticed('a commit after that', () => void repository.commit({ 'b.txt': 'b\n' }));
    await isNoticed('a branch beside packed ones', git('branch', 'svc/s-2'));
    await isNoticed('the end of a packed branch', git('branch', '-D', 'svc/s-1'));
    await isNoticed('the end of a branch', git('branch', '-D', 'svc/s-2'));
    await isNoticed('a reset', git('reset', '--quiet', '--hard', 'HEAD~1'));
  });

  test('a removed repository ends only its own notifications', () => {
    rmSync(repository.root, { recursive: true });
    watch.close();
    assert.doesNotThrow(() =>
      watchRefs({ common: join(repository.root, '.git'), beside: [] }, () => undefined).close(),
    );
  });
});
