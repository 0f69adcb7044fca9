import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createWorktrees, type Worktrees } from '../../../../../../engine/workers/runner/worktrees/index.ts';
import {
  gitEnvironment,
  makeRepository,
  type TestRepository,
} from '../../../../../support/workspaces/git.ts';
import { type GitCallLog, logGitCalls } from '../../../../../support/workspaces/git-calls.ts';

let repository: TestRepository;
let worktrees: Worktrees;
let log: GitCallLog;

beforeEach(() => {
  repository = makeRepository();
  log = logGitCalls(repository.folder);
  const person = {
    GIT_AUTHOR_NAME: 'P',
    GIT_AUTHOR_EMAIL: 'p@example.test',
    GIT_COMMITTER_NAME: 'P',
    GIT_COMMITTER_EMAIL: 'p@example.test',
  };
  worktrees = createWorktrees({ env: gitEnvironment({ ...person, ...log.env }) });
});
afterEach(() => {
  worktrees.close();
  repository.remove();
});

/** Number of times that git was started. */
async function calls(work: () => Promise<unknown>): Promise<number> {
  log.clear();
  await work();
  return log.count();
}

const pathOf = (session: string) => join(repository.folder, 'worktrees', session);
const create = (session = 's-1') =>
  worktrees.create({
    repositoryPath: repository.root,
    worktreePath: pathOf(session),
    branch: `svc/${session}`,
    projectPath: repository.root,
  });
const finish = () =>
  worktrees.finish({
    path: pathOf('s-1'),
    branch: 'svc/s-1',
    baseCommit: repository.git('rev-parse', 'main'),
    message: 'wip',
  });
const place = () => ({ repository: repository.root, worktreesDir: join(repository.folder, 'worktrees') });
const plan = () => worktrees.planPrune({ ...place(), keep: () => false, isOurs: () => true });
const promote = () =>
  worktrees.promote({
    repository: repository.root,
    branch: 'svc/s-1',
    base: 'main',
    strategy: 'merge',
    title: 'Promote',
  });

// Each call takes longer than all of the engine's work around it.
describe('the number of git processes', () => {
  test('a run needs 1 git process to start and at most 6 to end, besides one that reads commits for all runs', async () => {
    // Read once for all runs, at their start.
    await worktrees.findUserIdentity(repository.root);
    assert.equal(await calls(create), 1);
    assert.equal(await calls(finish), 1, 'without changes: the one that reads commits');
    writeFileSync(join(pathOf('s-1'), 'a.txt'), 'a\n');
    assert.equal(await calls(finish), 6, 'work in progress is committed');
    assert.equal(await calls(finish), 1, 'everything is committed');
  });

  test('listing worktrees needs 5 git processes, 9 once the base has moved on, however many there are', async () => {
    for (const session of ['s-1', 's-2', 's-3', 's-4', 's-5', 's-6']) {
      await create(session);
      repository.commit({ [`${session}.txt`]: 'a\n' }, 'work', pathOf(session));
    }
    const list = () => worktrees.readStatus(place());
    const five = ['s-1', 's-2', 's-3', 's-4', 's-5'];
    const many = await calls(list);
    repository.commit({ 'b.txt': 'b\n' });
    const manyBehind = await calls(list);
    for (const session of five) {
      repository.git('worktree', 'remove', pathOf(session));
      repository.git('branch', '-D', `svc/${session}`);
    }
    assert.deepEqual([many, manyBehind], [5, 9]);
    assert.equal(await calls(list), 9);
    assert.equal(await calls(plan), 9);
  });

  test('a promotion needs 11 git processes, and 15 to remove the worktree', async () => {
    await create();
    repository.commit({ 'a.txt': 'a\n' }, 'work', pathOf('s-1'));
    assert.equal(await calls(promote), 11);
    assert.equal(await calls(async () => worktrees.prune(await plan())), 15);
  });
});
