import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { quoteForShell } from '../../../../../../engine/core/base/text.ts';
import { createWorktrees, type Worktrees } from '../../../../../../engine/workers/runner/worktrees/index.ts';
import {
  gitEnvironment,
  makeRepository,
  type TestRepository,
} from '../../../../../support/workspaces/git.ts';

let repository: TestRepository;
let worktrees: Worktrees;
let log: string;

beforeEach(() => {
  repository = makeRepository();
  const bin = join(repository.folder, 'bin');
  log = join(repository.folder, 'calls');
  mkdirSync(bin);
  const path = process.env.PATH ?? '';
  const program = join(bin, 'git');
  writeFileSync(
    program,
    `#!/bin/sh\necho x >> ${quoteForShell(log)}\nPATH=${quoteForShell(path)} exec git "$@"\n`,
  );
  chmodSync(program, 0o755);
  const person = {
    GIT_AUTHOR_NAME: 'P',
    GIT_AUTHOR_EMAIL: 'p@example.test',
    GIT_COMMITTER_NAME: 'P',
    GIT_COMMITTER_EMAIL: 'p@example.test',
  };
  worktrees = createWorktrees({ env: gitEnvironment({ ...person, PATH: [bin, path].join(delimiter) }) });
});
afterEach(() => repository.remove());

/** Number of times that git was started. */
async function calls(work: () => Promise<unknown>): Promise<number> {
  writeFileSync(log, '');
  await work();
  return readFileSync(log, 'utf8').split('\n').length - 1;
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
    message: 'Promote',
  });

// Each call takes longer than all of the engine's work around it.
describe('the number of git processes', () => {
  test('a run needs 4 git processes to start and 3 to 9 to end', async () => {
    assert.equal(await calls(create), 4);
    assert.equal(await calls(finish), 3, 'without changes');
    writeFileSync(join(pathOf('s-1'), 'a.txt'), 'a\n');
    assert.equal(await calls(finish), 9, 'work in progress is committed');
    assert.equal(await calls(finish), 5, 'everything is committed');
  });

  test('listing worktrees needs 6 git processes, 10 once the base has moved on, however many there are', async () => {
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
    assert.deepEqual([many, manyBehind], [6, 10]);
    assert.equal(await calls(list), 10);
    assert.equal(await calls(plan), 11, "a removal asks git for the worktree's state");
  });

  test('a promotion needs 10 git processes, and 19 to remove the worktree', async () => {
    await create();
    repository.commit({ 'a.txt': 'a\n' }, 'work', pathOf('s-1'));
    assert.equal(await calls(promote), 10);
    assert.equal(await calls(async () => worktrees.prune(await plan())), 19);
  });
});
