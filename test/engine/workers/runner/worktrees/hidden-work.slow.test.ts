import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import {
  type CreatedWorktree,
  createWorktrees,
  listChangedFiles,
  type SavedState,
  type Worktrees,
} from '../../../../../engine/workers/runner/worktrees/index.ts';
import {
  gitEnvironment,
  makeRepository,
  openTestGit,
  type TestRepository,
} from '../../../../support/workspaces/git.ts';

let repository: TestRepository;
let worktrees: Worktrees;
let made: CreatedWorktree;
let worktreesDir: string;

const create = (session: string): Promise<CreatedWorktree> =>
  worktrees.create({
    repositoryPath: repository.root,
    worktreePath: join(worktreesDir, session),
    branch: `svc/${session}`,
    projectPath: repository.root,
  });

beforeEach(async () => {
  repository = makeRepository();
  repository.commit({ 'lib/a.txt': 'a\n', 'lib/b.txt': 'b\n', 'far/c.txt': 'c\n', 'far/d.txt': 'd\n' });
  worktreesDir = join(repository.folder, 'worktrees');
  worktrees = createWorktrees({ env: gitEnvironment(), agentsDir: join(repository.folder, 'agents') });
  made = await create('s-1');
});
afterEach(() => repository.remove());

const at = (name: string): string => join(made.path, name);
const write = (name: string, text: string): void => repository.write(at(name), text);
const inWorktree = (...args: string[]): string => repository.gitIn(made.path, ...args);
const flag = (name: string, file: string, cwd = made.path): string =>
  repository.gitIn(cwd, 'update-index', `--${name}`, file);
const finish = () =>
  worktrees.finish({
    path: made.path,
    branch: 'svc/s-1',
    baseCommit: made.baseCommit,
    message: 'work',
    repository: repository.root,
  });
/** Discards s-1; returns the command that restores it. */
async function discard(): Promise<SavedState> {
  const states: SavedState[] = [];
  await worktrees.discard({
    repository: repository.root,
    branch: 'svc/s-1',
    worktree: made.path,
    async record(state) {
      states.push({ ...state });
    },
  });
  assert.equal(existsSync(made.path), false);
  return states[0]!;
}
const restore = (saved: SavedState) =>
  worktrees.restore({ repository: repository.root, branch: 'svc/s-1', saved, withWorktree: true });
const plan = () =>
  worktrees.planPrune({ repository: repository.root, worktreesDir, keep: () => false, isOurs: () => true });
const reasons = async (): Promise<string> =>
  (await plan()).entries[0]?.reasons.join('; ') ?? 'not in the plan';
const committed = (): string[] =>
  repository.git('diff', '--name-status', `${made.baseCommit}..svc/s-1`).split('\n').filter(Boolean);
const readDirty = async (): Promise<boolean | null | undefined> =>
  (await worktrees.readStatus({ repository: repository.root, worktreesDir })).worktrees[0]?.dirty;

const SPARSE: readonly (readonly string[])[] = [['--no-cone'], ['--cone'], ['--cone', '--sparse-index']];

for (const name of ['skip-worktree', 'assume-unchanged'])
  describe(`a change of a file that is marked ${name}`, () => {
    beforeEach(() => {
      flag(name, 'lib/a.txt');
      write('lib/a.txt', 'work\n');
      assert.equal(inWorktree('status', '--porcelain'), '', 'git itself does not see it');
    });

    test('the change is committed at the end of a run, with the rest and nothing else', async () => {
      flag(name, 'lib/b.txt');
      write('new.txt', 'new\n');
      const end = await finish();
      assert.deepEqual([end.wip, end.files, end.unsafe], [true, 2, undefined]);
      assert.deepEqual(committed(), ['M\tlib/a.txt', 'A\tnew.txt']);
      assert.equal(repository.git('show', 'svc/s-1:lib/a.txt'), 'work');
    });

    test('the change keeps its worktree from being pruned, even when it comes after the plan', async () => {
      assert.match(await reasons(), /^uncommitted changes: lib\/a\.txt$/);
      write('lib/a.txt', 'a\n');
      const early = await plan();
      assert.equal(early.entries[0]?.action, 'remove');
      const { refused } = await worktrees.prune(early, async () => write('lib/a.txt', 'late work\n'));
      assert.match(refused[0]?.reasons.join() ?? '', /lib\/a\.txt/);
      assert.equal(readFileSync(at('lib/a.txt'), 'utf8'), 'late work\n');
    });

    test('the change is restored after a discard', async () => {
      await restore(await discard());
      assert.equal(readFileSync(at('lib/a.txt'), 'utf8'), 'work\n');
      assert.equal(readFileSync(at('lib/b.txt'), 'utf8'), 'b\n');
    });

    test('the change is in the list, the count and comparisons, and listing leaves the mark', async () => {
      const index = inWorktree('ls-files', '-v');
      assert.equal(await readDirty(), true);
      assert.equal(await worktrees.countUncommitted(made.path), 1);
      assert.deepEqual(await listChangedFiles(made.path, openTestGit(), null), ['lib/a.txt']);
      assert.deepEqual(await listChangedFiles(at('lib'), openTestGit(), null), ['a.txt']);
      const texts = await worktrees.readChangedTexts(made.path, null, { most: 9, isWanted: () => true });
      assert.deepEqual(texts?.changed, [{ path: 'lib/a.txt', before: 'a\n', after: undefined }]);
      const lines = await worktrees.readChangedLines(made.path, { from: 'HEAD', to: null });
      assert.deepEqual([...(lines?.files.keys() ?? [])], ['lib/a.txt']);
      assert.equal(inWorktree('ls-files', '-v'), index);
    });

    for (const format of [['--index-version', '4'], ['--split-index']])
      test(`the change is found with an index in the form ${format.join(' ')}`, async () => {
        inWorktree('update-index', ...format);
        assert.equal(await readDirty(), true);
        assert.match(await reasons(), /lib\/a\.txt/);
        await finish();
        assert.deepEqual(committed(), ['M\tlib/a.txt']);
      });

    test('a change of a program or a link is committed as such', async () => {
      for (const each of ['far/c.txt', 'far/d.txt']) flag(name, each);
      rmSync(at('far/c.txt'));
      symlinkSync('../lib/b.txt', at('far/c.txt'));
      writeFileSync(at('far/d.txt'), 'd\n');
      inWorktree('config', 'core.fileMode', 'true');
      rmSync(at('far/d.txt'));
      writeFileSync(at('far/d.txt'), 'd\n', { mode: 0o755 });
      await finish();
      assert.deepEqual(committed(), ['T\tfar/c.txt', 'M\tfar/d.txt', 'M\tlib/a.txt']);
    });
  });

/** Same content, another time. */
function writeAtAnotherTime(name: string, text: string): void {
  repository.write(name, text);
  utimesSync(join(repository.root, name), 1e9, 1e9);
}

describe('a marked file in the checkout of a person', () => {
  for (const name of ['skip-worktree', 'assume-unchanged'])
    test(`a ${name} file stops the trial and the promotion alike where the work touches it`, async () => {
      repository.commit({ 'lib/a.txt': 'work\n' }, 'work', made.path);
      flag(name, 'lib/a.txt', repository.root);
      const request = { repository: repository.root, branch: 'svc/s-1', base: 'main' };
      const promote = () => worktrees.promote({ ...request, strategy: 'merge', title: 'promote' });
      repository.write('lib/a.txt', 'mine\n');
      const tried = await worktrees.tryPromotion(request);
      assert.deepEqual([tried.promotable, tried.checkout.paths], [false, ['lib/a.txt']]);
      await assert.rejects(promote(), { code: 'checkout_dirty' });
      assert.equal(readFileSync(join(repository.root, 'lib/a.txt'), 'utf8'), 'mine\n');

      // Other marked files do not affect the promotion.
      writeAtAnotherTime('lib/a.txt', 'a\n');
      flag(name, 'far/c.txt', repository.root);
      repository.write('far/c.txt', 'mine\n');
      assert.equal((await worktrees.tryPromotion(request)).promotable, true);
      const { before, after, head } = await promote();
      assert.equal(readFileSync(join(repository.root, 'lib/a.txt'), 'utf8'), 'work\n');
      assert.equal(readFileSync(join(repository.root, 'far/c.txt'), 'utf8'), 'mine\n');
      const marks = repository.git('ls-files', '-v', 'lib/a.txt', 'far/c.txt');
      assert.match(marks, name === 'skip-worktree' ? /^S far\/c\.txt\nS lib/ : /^h far\/c\.txt\nh lib/);

      repository.write('lib/a.txt', 'mine again\n');
      const undo = () => worktrees.undoPromotion({ ...request, head, before, after, isUndoing: false });
      await assert.rejects(undo(), { code: 'checkout_dirty' });
      assert.equal(readFileSync(join(repository.root, 'lib/a.txt'), 'utf8'), 'mine again\n');
      writeAtAnotherTime('lib/a.txt', 'work\n');
      await undo();
      assert.equal(readFileSync(join(repository.root, 'lib/a.txt'), 'utf8'), 'a\n');
      assert.equal(repository.git('ls-files', '-v', 'lib/a.txt', 'far/c.txt'), marks);
    });
});

describe('a sparse checkout', () => {
  for (const options of SPARSE)
    describe(`a sparse checkout with ${options.join(' ')}`, () => {
      beforeEach(() => void inWorktree('sparse-checkout', 'set', ...options, 'lib'));

      test('a sparse checkout keeps its absent files absent, and records none of them as deleted', async () => {
        assert.equal(existsSync(at('far/c.txt')), false);
        assert.equal(await readDirty(), false);
        assert.equal((await plan()).entries[0]?.action, 'remove');
        write('lib/a.txt', 'work\n');
        const end = await finish();
        assert.equal(end.unsafe, undefined);
        assert.deepEqual(committed(), ['M\tlib/a.txt']);
        assert.equal(existsSync(at('far/c.txt')), false);
      });

      test('a sparse checkout loses no file that a worker wrote outside it', async () => {
        write('far/c.txt', 'work\n');
        write('far/new.txt', 'new\n');
        assert.match(await reasons(), /far/);
        const end = await finish();
        assert.equal(end.unsafe, undefined);
        assert.deepEqual(committed(), ['M\tfar/c.txt', 'A\tfar/new.txt']);
      });

      test('a sparse checkout is discarded and restored with a change outside it', async () => {
        write('far/c.txt', 'work\n');
        const saved = await discard();
        const { files } = saved;
        assert.equal(repository.git('diff', '--name-status', `${files}^1`, `${files}`), 'M\tfar/c.txt');
        await restore(saved);
        assert.equal(readFileSync(at('far/c.txt'), 'utf8'), 'work\n');
        assert.equal(readFileSync(at('lib/a.txt'), 'utf8'), 'a\n');
      });

      test('a sparse checkout with a damaged index loses no absent file', async () => {
        const index = join(repository.root, '.git/worktrees/s-1/index');
        writeFileSync(index, 'damaged');
        write('lib/a.txt', 'work\n');
        await finish();
        assert.deepEqual(committed(), ['M\tlib/a.txt']);
      });
    });

  test('a sparse checkout does not follow a link that a worker put in the place of a folder', async () => {
    inWorktree('sparse-checkout', 'set', '--no-cone', 'lib');
    mkdirSync(join(repository.folder, 'other'));
    writeFileSync(join(repository.folder, 'other/c.txt'), 'not of this worktree\n');
    symlinkSync(join(repository.folder, 'other'), at('far'));
    await finish();
    assert.deepEqual(committed(), ['A\tfar', 'D\tfar/c.txt', 'D\tfar/d.txt']);
    assert.equal(repository.git('show', 'svc/s-1:far'), join(repository.folder, 'other'));
  });
});

describe('settings of a worker do not hide its changes', () => {
  const SETTINGS: readonly (readonly [string, string])[] = [
    ['status.showUntrackedFiles', 'no'],
    ['core.ignoreStat', 'true'],
    ['core.untrackedCache', 'true'],
    ['core.ignoreCase', 'true'],
    ['core.sparseCheckout', 'true'],
    ['core.checkStat', 'minimal'],
    ['core.trustctime', 'false'],
    ['diff.ignoreSubmodules', 'all'],
    ['index.sparse', 'true'],
  ];
  for (const [name, value] of SETTINGS)
    test(`${name}=${value} hides no change`, async () => {
      inWorktree('config', name, value);
      const { atime, mtime } = lstatSync(at('lib/a.txt'));
      writeFileSync(at('lib/a.txt'), 'A\n');
      utimesSync(at('lib/a.txt'), atime, mtime);
      write('LIB.txt', 'new\n');
      write('readme.md', 'new\n');
      assert.match(
        await reasons(),
        /uncommitted changes: lib\/a\.txt; untracked files: LIB\.txt, readme\.md/,
      );
      await finish();
      assert.deepEqual(committed().sort(), ['A\tLIB.txt', 'A\treadme.md', 'M\tlib/a.txt']);
    });
});

describe('ignore rules that only a worker has written', () => {
  /** Ways to hide `lib/new.txt`. */
  const WAYS: Readonly<Record<string, () => void>> = {
    'a .gitignore that hides all and itself': () => write('.gitignore', '*\n'),
    'a .gitignore of a folder': () => write('lib/.gitignore', '/new.txt\n.gitignore\n'),
    'the exclude file of git': () => repository.write('.git/info/exclude', '.svc/\nnew.txt\n'),
  };
  beforeEach(() => worktrees.rememberPrograms(repository.root, { isQuiet: true }));

  for (const [way, hide] of Object.entries(WAYS)) {
    test(`the rules keep a worktree from being pruned: ${way}`, async () => {
      hide();
      write('lib/new.txt', 'work\n');
      const end = await finish();
      assert.ok(end.hidden.includes('lib/new.txt'), end.hidden.join());
      assert.match(await reasons(), /^files hidden only by its own ignore rules: .*lib\/new\.txt/);
    });

    test(`rules written after the plan keep the worktree too, and also in the next plan: ${way}`, async () => {
      const early = await plan();
      assert.equal(early.entries[0]?.action, 'remove');
      const { removed } = await worktrees.prune(early, async () => {
        hide();
        write('lib/new.txt', 'work\n');
      });
      assert.deepEqual(removed, []);
      assert.equal(readFileSync(at('lib/new.txt'), 'utf8'), 'work\n');
      await finish();
      await worktrees.rememberPrograms(repository.root, { isQuiet: true });
      assert.match(await reasons(), /lib\/new\.txt/);
    });

    test(`the rules lose nothing in a discard: ${way}`, async () => {
      hide();
      write('lib/new.txt', 'work\n');
      write('lib/vendor/mine.txt', 'work\n');
      write('lib/vendor/.gitignore', '*\n');
      await restore(await discard());
      assert.equal(readFileSync(at('lib/new.txt'), 'utf8'), 'work\n');
      assert.equal(readFileSync(at('lib/vendor/mine.txt'), 'utf8'), 'work\n');
    });
  }

  test('files under rules from promoted work are moved aside when the worktree is removed', async () => {
    write('.gitignore', '*.txt\n');
    write('lib/new.txt', 'work\n');
    write('lib/code.js', 'code\n');
    assert.deepEqual((await finish()).hidden, ['lib/new.txt']);
    assert.deepEqual(committed(), ['A\t.gitignore', 'A\tlib/code.js']);
    const request = { repository: repository.root, branch: 'svc/s-1', base: 'main' };
    await worktrees.promote({ ...request, strategy: 'merge', title: 'promote' });
    const due = await worktrees.planPrune({
      repository: repository.root,
      worktreesDir,
      keep: () => false,
      isOurs: () => true,
      findStart: () => made.baseCommit,
    });
    const { removed } = await worktrees.prune(due);
    const aside = join(repository.folder, 'agents/s-1/ignored');
    assert.deepEqual(removed[0]?.ignored, [`ignored files of 1 KB are kept in ${aside}: lib/new.txt`]);
    assert.equal(readFileSync(join(aside, 'lib/new.txt'), 'utf8'), 'work\n');
  });

  test('the rules are ignored for dependencies, and for a folder that is marked as a cache', async () => {
    write('.gitignore', 'node_modules\n.cache\n.gitignore\n');
    write('node_modules/x/index.js', 'x\n');
    write('.cache/CACHEDIR.TAG', 'Signature: 8a477f597d28d172789f06886806bc55\n');
    write('.cache/deep/x', 'x\n');
    write('.claude/.gitignore', 'settings.local.json\n.gitignore\n');
    write('.claude/settings.local.json', '{}\n');
    assert.deepEqual((await finish()).hidden, ['.claude/.gitignore', '.gitignore']);
  });
});

test('the rules of the base and of the person decide which files may go, at any depth', async () => {
  const rules = {
    '.gitignore': 'out\n!lib/out\n*.log\r\n/top.txt\n',
    'lib/.gitignore': '# a comment\n*.tmp\n!keep.tmp\n/only-here\na/b\n\\#odd\n',
    'we[i]rd/.gitignore': 'x*\n',
  };
  repository.commit(rules);
  repository.write('.git/info/exclude', '.svc/\nmine\n');
  const { path } = await create('s-2');
  for (const name of [
    ...[
      'out/a',
      'far/out/b',
      'a.log',
      'lib/b.log',
      'top.txt',
      'lib/x.tmp',
      'lib/deep/y.tmp',
      'lib/only-here',
    ],
    ...['lib/a/b', 'lib/#odd', 'we[i]rd/x1', 'mine', 'far/mine'],
  ])
    repository.write(join(path, name), 'ignored\n');
  // The same rules in a file that hides itself.
  repository.gitIn(path, 'status', '--porcelain');
  const entries = (await plan()).entries.filter(({ branch }) => branch === 'svc/s-2');
  assert.deepEqual([entries[0]?.action, entries[0]?.reasons], ['remove', []]);
  repository.write(join(path, 'far/.gitignore'), '*\n');
  for (const name of ['far/x.tmp', 'far/only-here', 'far/x1']) repository.write(join(path, name), 'work\n');
  const [kept] = (await plan()).entries.filter(({ branch }) => branch === 'svc/s-2');
  assert.deepEqual(kept?.reasons, [
    'files hidden only by its own ignore rules: far/.gitignore, far/only-here, far/x.tmp',
  ]);
});
