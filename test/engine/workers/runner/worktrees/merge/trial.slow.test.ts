import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { SvcError } from '../../../../../../engine/core/base/errors.ts';
import {
  createWorktrees,
  type MergeTrial,
  type Worktrees,
} from '../../../../../../engine/workers/runner/worktrees/index.ts';
import {
  gitEnvironment,
  makeRepository,
  type TestRepository,
} from '../../../../../support/workspaces/git.ts';

let repository: TestRepository;
let worktrees: Worktrees;
let path: string;
const { TMPDIR } = process.env;

beforeEach(async () => {
  repository = makeRepository();
  worktrees = createWorktrees({ env: gitEnvironment() });
  path = (
    await worktrees.create({
      repositoryPath: repository.root,
      worktreePath: join(repository.folder, 's-1'),
      branch: 'svc/s-1',
      projectPath: repository.root,
    })
  ).path;
  // Anything that a trial leaves behind is then part of `everything`.
  process.env.TMPDIR = repository.folder;
});
afterEach(() => {
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
  repository.remove();
});

const work = (files: Record<string, string>, subject?: string): string =>
  repository.commit(files, subject, path);
const request = { branch: 'svc/s-1', base: 'main' };
const trial = (): Promise<MergeTrial> => worktrees.tryPromotion({ repository: repository.root, ...request });
const promote = (head?: string) =>
  worktrees.promote({
    repository: repository.root,
    ...request,
    strategy: 'merge',
    title: 'Promote s-1',
    ...(head === undefined ? {} : { head }),
  });

/** Every file around the repository, including `.git` and the worktree, with its content and times. */
function everything(): Map<string, string> {
  const all = readdirSync(repository.folder, { recursive: true, withFileTypes: true });
  // Other tests of this process have their repositories in its temporary folder.
  const own = all.filter((entry) => !relative(repository.folder, entry.parentPath).startsWith('svc-test-'));
  const files = own
    .filter(({ name }) => !name.startsWith('svc-test-'))
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const { mtimeMs, mode } = lstatSync(file);
      const content = entry.isFile() ? createHash('sha256').update(readFileSync(file)).digest('hex') : '';
      // git touches an existing object instead of writing it, to keep it from garbage collection.
      const time = /\/objects\/..\/[0-9a-f]+$/.test(file) ? '' : mtimeMs;
      return [file, [mode, time, content].join(' ')] as const;
    });
  return new Map(files);
}

function assertNothingChanged(before: Map<string, string>): void {
  const now = everything();
  const names = new Set([...before.keys(), ...now.keys()]);
  assert.deepEqual(
    [...names].filter((name) => before.get(name) !== now.get(name)),
    [],
  );
}

/** Checks that the trial writes nothing, and that promoting has the predicted result. */
async function foretold(): Promise<MergeTrial> {
  const before = everything();
  const told = await trial();
  assertNothingChanged(before);
  const [promoted] = await Promise.allSettled([promote(told.head)]);
  if (promoted.status === 'fulfilled') {
    assert.deepEqual([told.promotable, promoted.value.alreadyMerged], [true, told.alreadyMerged]);
  } else {
    assert.ok(promoted.reason instanceof SvcError, String(promoted.reason));
    assert.equal(told.promotable, false, promoted.reason.message);
    const { paths } = promoted.reason.data;
    assert.deepEqual(paths, told.conflicts.length > 0 ? told.conflicts : told.checkout.paths);
  }
  return told;
}

describe('a trial writes nothing and predicts the promotion', () => {
  test('the trial predicts a clean merge that moves the base and its checkout', async () => {
    const head = work({ 'a.txt': 'a\n', 'app/main.txt': 'changed\n' });
    repository.commit({ 'b.txt': 'b\n' });
    assert.deepEqual(await foretold(), {
      ...{ branch: 'svc/s-1', head, base: 'main', strategy: 'merge', ahead: 1, behind: 1 },
      ...{ promotable: true, alreadyMerged: false, refused: null, conflicts: [], sensitive: [] },
      checkout: { state: 'clean', path: repository.root, paths: [], reason: null },
    });
  });

  test('the trial predicts a conflict in the same lines', async () => {
    work({ 'README.md': 'ours\n', 'fine.txt': 'x\n', 'app/main.txt': 'ours\n' });
    repository.commit({ 'README.md': 'theirs\n', 'app/main.txt': 'theirs\n' });
    const told = await foretold();
    assert.deepEqual([told.promotable, told.conflicts], [false, ['README.md', 'app/main.txt']]);
    assert.equal(told.checkout.state, 'clean');
  });

  test('the trial recognises work that the base has already, merged or squashed', async () => {
    const none = await foretold();
    assert.deepEqual([none.alreadyMerged, none.ahead], [true, 0]);
    work({ 'a.txt': 'a\n' });
    repository.git('merge', '--quiet', '--squash', 'svc/s-1');
    repository.commit({}, 'squashed');
    const squashed = await foretold();
    assert.deepEqual([squashed.promotable, squashed.alreadyMerged, squashed.ahead], [true, true, 1]);
  });

  test('the trial predicts a refusal for changes in the same files; changes elsewhere are not in the way', async () => {
    work({ 'a.txt': 'a\n', 'README.md': 'one\ntwo\nthree\nfour\n' });
    repository.write('app/main.txt', 'being edited\n');
    assert.deepEqual((await trial()).checkout, {
      state: 'changed',
      path: repository.root,
      paths: ['app/main.txt'],
      reason: 'has changes that stay as they are: app/main.txt',
    });
    repository.write('README.md', 'being edited\n');
    const { checkout } = await foretold();
    assert.deepEqual([checkout.state, checkout.paths], ['dirty', ['README.md']]);
    assert.match(checkout.reason ?? '', /^has changes in README\.md$/);
  });

  test('the trial predicts a refusal where tracked files of the checkout are gone', async () => {
    repository.commit({ 'b.txt': 'b\n', 'c.txt': 'c\n' });
    rmSync(join(repository.root, 'b.txt'));
    repository.git('rm', '--quiet', 'c.txt');
    const idle = (await trial()).checkout;
    assert.deepEqual([idle.state, idle.paths], ['changed', ['b.txt', 'c.txt']]);
    work({ 'README.md': 'ours\n' });
    const { checkout, promotable } = await trial();
    assert.deepEqual([promotable, checkout.state, checkout.paths], [true, 'changed', ['b.txt', 'c.txt']]);
    assert.match(checkout.reason ?? '', /: b\.txt, c\.txt$/);
    rmSync(join(repository.root, 'README.md'));
    assert.deepEqual((await foretold()).checkout.paths, ['README.md']);
  });

  test('the trial predicts a refusal where the checkout is in the middle of a merge or of a rebase', async () => {
    work({ 'a.txt': 'a\n' });
    repository.git('branch', 'other');
    repository.commit({ 'b.txt': 'b\n' });
    repository.git('checkout', '--quiet', 'other');
    repository.commit({ 'README.md': 'other\n' });
    repository.git('checkout', '--quiet', 'main');
    repository.git('merge', '--quiet', '--no-commit', '--no-ff', 'other');
    assert.match((await foretold()).checkout.reason ?? '', /middle of a merge/);
    repository.git('merge', '--abort');
    repository.commit({ 'README.md': 'main\n' });
    assert.throws(() => repository.git('rebase', '--quiet', 'other'));
    assert.match((await foretold()).checkout.reason ?? '', /middle of a rebase of main/);
  });

  test('the trial works where the base is not checked out', async () => {
    work({ 'a.txt': 'a\n' });
    repository.git('checkout', '--quiet', '--detach');
    const { checkout } = await foretold();
    assert.deepEqual(checkout, { state: 'none', path: null, paths: [], reason: null });
  });

  for (const [what, files, mine] of [
    ['untracked', { 'a.txt': 'a\n' }, { 'a.txt': 'mine\n', 'harmless.txt': 'x' }],
    ['ignored', { 'b.log': 'b\n' }, { 'b.log': 'mine\n' }],
    ['in the place of a folder', { 'folder/a.txt': 'a\n' }, { folder: 'mine\n' }],
    ['in a folder in the place of a file', { thing: 'a\n' }, { 'thing/mine.txt': 'mine\n' }],
    ['named like a pattern', { '*.txt': 'a\n' }, { '*.txt': 'mine\n', 'b.txt': 'other' }],
  ] as const) {
    test(`the trial predicts a refusal where the user's file is in the way: ${what}`, async () => {
      repository.write('.git/info/exclude', '*.log\n');
      work(files);
      for (const [name, text] of Object.entries(mine)) repository.write(name, text);
      const before = everything();
      const told = await trial();
      assertNothingChanged(before);
      assert.deepEqual([told.promotable, told.checkout.state], [false, 'dirty']);
      assert.deepEqual(told.checkout.paths, [Object.keys(mine)[0]]);
      await assert.rejects(promote());
      assert.deepEqual(readFileSync(join(repository.root, Object.keys(mine)[0]!), 'utf8'), 'mine\n');
      rmSync(join(repository.root, Object.keys(mine)[0]!.split('/')[0]!), { recursive: true });
      assert.equal((await foretold()).promotable, true);
    });
  }

  test('the trial predicts a merge where tracked files become folders, and empty folders become files', async () => {
    repository.commit({ thing: 'a file\n', 'folder/one.txt': '1\n' });
    repository.gitIn(path, 'merge', '--quiet', '--ff-only', 'main');
    repository.gitIn(path, 'rm', '--quiet', '-r', 'thing', 'folder');
    work({ 'thing/inside.txt': 'x\n', folder: 'a file now\n', fresh: 'x\n' });
    mkdirSync(join(repository.root, 'fresh'));
    const told = await foretold();
    assert.deepEqual([told.promotable, told.checkout.state], [true, 'clean']);
  });

  test('the trial works in a folder whose name has a colon, and in a repository that borrows objects', async () => {
    const clone = join(repository.folder, 'a:"clone');
    repository.git('clone', '--quiet', '--shared', repository.root, clone);
    await worktrees.create({
      repositoryPath: clone,
      worktreePath: join(repository.folder, 's-2'),
      branch: 'svc/s-2',
      projectPath: clone,
    });
    repository.commit({ 'a.txt': 'a\n' }, 'work', join(repository.folder, 's-2'));
    repository.commit({ 'b.txt': 'b\n' }, 'meanwhile', clone);
    const before = everything();
    const told = await worktrees.tryPromotion({ repository: clone, branch: 'svc/s-2', base: 'main' });
    assert.deepEqual([told.promotable, told.ahead, told.behind], [true, 1, 1]);
    assertNothingChanged(before);
  });

  test('the trial of an unknown branch or base is not found', async () => {
    const none = { repository: repository.root, ...request };
    await assert.rejects(worktrees.tryPromotion({ ...none, branch: 'svc/none' }), { code: 'not_found' });
    await assert.rejects(worktrees.tryPromotion({ ...none, base: 'none' }), { code: 'not_found' });
  });
});

test('promoting an inspected commit is refused once the branch has moved', async () => {
  work({ 'a.txt': 'a\n' });
  const { head } = await trial();
  const next = work({ 'b.txt': 'b\n' });
  const before = repository.git('for-each-ref');
  await assert.rejects(promote(head), (error: SvcError) => {
    assert.equal(error.code, 'conflict');
    assert.match(error.message, /svc\/s-1 moved since you looked/);
    assert.deepEqual(error.data, { seen: head, found: next });
    return true;
  });
  assert.equal(repository.git('for-each-ref'), before);
  writeFileSync(join(path, 'uncommitted.txt'), 'is no part of it');
  await promote(next);
  repository.git('merge-base', '--is-ancestor', next, 'main');
});
