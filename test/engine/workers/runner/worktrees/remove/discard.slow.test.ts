import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { SvcError } from '../../../../../../engine/core/base/errors.ts';
import {
  createWorktrees,
  type SavedState,
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
let saved: SavedState | null;

beforeEach(async () => {
  repository = makeRepository();
  saved = null;
  worktrees = createWorktrees({ env: gitEnvironment(), agentsDir: join(repository.folder, 'agents') });
  path = await create('s-1');
});
afterEach(() => repository.remove());

const create = async (session: string): Promise<string> => {
  const made = await worktrees.create({
    repositoryPath: repository.root,
    worktreePath: join(repository.folder, 'worktrees', session),
    branch: `svc/${session}`,
    projectPath: repository.root,
  });
  return made.path;
};

async function keepState(state: SavedState): Promise<void> {
  saved = { ...state };
}
const discard = (record = keepState) =>
  worktrees.discard({ repository: repository.root, branch: 'svc/s-1', worktree: path, record });
const restore = (withWorktree = true) =>
  worktrees.restore({ repository: repository.root, branch: 'svc/s-1', saved: saved!, withWorktree });

/** Every file by its name in bytes, with its type and content. */
function readTree(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (at: Buffer): void => {
    for (const name of readdirSync(at, { encoding: 'buffer' })) {
      if (name.equals(Buffer.from('.git'))) continue;
      const file = Buffer.concat([at, Buffer.from('/'), name]);
      const stat = lstatSync(file);
      const key = file.subarray(Buffer.byteLength(folder)).toString('latin1');
      if (stat.isDirectory()) walk(file);
      else if (stat.isSymbolicLink()) found[key] = `link ${readlinkSync(file)}`;
      else
        found[key] =
          `${(stat.mode & 0o100) === 0 ? 'file' : 'program'} ${readFileSync(file).toString('latin1')}`;
    }
  };
  walk(Buffer.from(folder));
  return found;
}

const state = () => ({
  files: readTree(path),
  status: repository.gitIn(path, 'status', '--porcelain', '--branch', '-uall'),
  staged: repository.gitIn(path, 'ls-files', '--stage'),
  head: repository.gitIn(path, 'rev-parse', 'HEAD'),
});

const refuses = (reason: RegExp) => (error: unknown) => {
  assert.ok(error instanceof SvcError);
  assert.equal(error.code, 'worktree_unsafe', error.message);
  assert.match(error.message, reason);
  return true;
};

async function assertComesBack(): Promise<void> {
  const before = state();
  const { isGone } = await discard();
  assert.equal(isGone, false);
  assert.equal(existsSync(path), false);
  assert.equal(repository.git('for-each-ref', 'refs/heads/svc/s-1'), '');
  assert.doesNotMatch(repository.git('worktree', 'list'), /s-1/);
  await restore();
  assert.deepEqual(state(), before);
  assert.doesNotMatch(repository.git('worktree', 'list', '--porcelain'), /locked/);
}

describe('restoring a discarded session', () => {
  test('commits are restored, with changed, staged, new and deleted files', async () => {
    repository.commit({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n', 'd.txt': 'd\n' }, 'work', path);
    const at = (name: string): string => join(path, name);
    writeFileSync(at('a.txt'), 'staged\n');
    repository.gitIn(path, 'add', 'a.txt');
    writeFileSync(at('a.txt'), 'and changed again\n');
    rmSync(at('b.txt'));
    repository.gitIn(path, 'rm', '--quiet', '--cached', 'c.txt');
    repository.gitIn(path, 'mv', 'd.txt', 'moved.txt');
    mkdirSync(at('new'));
    writeFileSync(at('new/program.sh'), '#!/bin/sh\n');
    chmodSync(at('new/program.sh'), 0o755);
    symlinkSync('/etc/passwd', at('link'));
    symlinkSync('nowhere', at('new/dangling'));
    rmSync(at('README.md'));
    mkdirSync(at('README.md'));
    writeFileSync(at('README.md/now-a-folder'), '');
    await assertComesBack();
    assert.ok(saved?.files);
  });

  test('files are restored byte for byte, with any conversion or filter of the repository', async () => {
    repository.git('config', 'filter.upper.clean', 'tr a-z A-Z');
    repository.git('config', 'filter.upper.smudge', 'tr A-Z a-z');
    repository.git('config', 'core.autocrlf', 'true');
    const attributes =
      '*.txt text eol=crlf\n*.id ident\n*.up filter=upper\n*.utf text working-tree-encoding=UTF-16\n';
    repository.commit(
      {
        '.gitattributes': attributes,
        'one.up': 'one\n',
        'same.up': 'same\n',
        'two.txt': 'two\n',
        'same.txt': 'same\r\n',
      },
      'work',
      path,
    );
    // Checks the files out again under the new settings.
    repository.gitIn(path, 'rm', '--quiet', '-r', '.');
    repository.gitIn(path, 'reset', '--quiet', '--hard');
    writeFileSync(join(path, 'mixed.txt'), 'one\r\ntwo\nthree\r');
    writeFileSync(join(path, 'two.txt'), 'unix\nwindows\r\n');
    writeFileSync(join(path, 'a.id'), '$Id: as it was $\n');
    writeFileSync(join(path, 'one.up'), 'Mixed Case\n');
    writeFileSync(join(path, 'new.up'), 'Mixed Case\n');
    writeFileSync(join(path, 'a.utf'), Buffer.from('\ufeffwide', 'utf16le'));
    writeFileSync(join(path, 'zero.bin'), Buffer.from([0, 13, 10, 0, 255, 10]));
    const before = readTree(path);
    await discard();
    await restore();
    assert.deepEqual(readTree(path), before);
  });

  test('files are restored under any name', async () => {
    for (const name of [
      '-rf',
      '--',
      ' a',
      'a\nb',
      'a\tb',
      '"quoted"',
      ':(top)x',
      '*',
      'ä\u0301',
      '\u202e.txt',
      'a\\b',
    ])
      writeFileSync(join(path, name), name);
    writeFileSync(Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0xff, 0xfe, 0x41])]), 'no UTF-8');
    await assertComesBack();
  });

  test('work on a detached HEAD is restored, with its commits', async () => {
    repository.gitIn(path, 'checkout', '--quiet', '--detach');
    repository.commit({ 'beside.txt': 'beside\n' }, 'beside the branch', path);
    writeFileSync(join(path, 'beside.txt'), 'changed\n');
    await assertComesBack();
  });

  test('files are restored from the middle of a merge with conflicts, without the merge', async () => {
    repository.commit({ 'README.md': 'ours\n' }, 'ours', path);
    repository.commit({ 'README.md': 'theirs\n' });
    assert.throws(() => repository.gitIn(path, 'merge', 'main'));
    const before = readTree(path);
    await discard();
    await restore();
    assert.deepEqual(readTree(path), before);
    assert.equal(
      repository.git('merge-base', saved?.files ?? '', 'main'),
      repository.git('rev-parse', 'main'),
    );
  });

  test('ignored files that may be work are restored', async () => {
    repository.commit({ '.gitignore': '.env\nout/\nnode_modules/\n' }, 'ignores', path);
    writeFileSync(join(path, '.env'), 'SECRET=1\n');
    mkdirSync(join(path, 'out/deep'), { recursive: true });
    writeFileSync(join(path, 'out/deep/result'), 'hours of work');
    const { ignored } = await discard();
    assert.match(ignored.join(), /are kept in .*agents\/s-1\/ignored: \.env, out/);
    assert.equal(
      repository.git('log', '--all', '--format=%H', '-S', 'SECRET=1'),
      '',
      'no commit contains the secret',
    );
    await restore();
    assert.equal(readFileSync(join(path, '.env'), 'utf8'), 'SECRET=1\n');
    assert.equal(readFileSync(join(path, 'out/deep/result'), 'utf8'), 'hours of work');
    assert.equal(existsSync(join(repository.folder, 'agents/s-1/ignored')), false);
  });

  test('the branch can be restored alone, and its worktree later', async () => {
    repository.commit({ 'a.txt': 'a\n' }, 'work', path);
    writeFileSync(join(path, 'a.txt'), 'changed\n');
    const before = state();
    await discard();
    await restore(false);
    assert.equal(repository.git('rev-parse', 'svc/s-1'), before.head);
    assert.equal(existsSync(path), false);
    await restore();
    assert.deepEqual(state(), before);
    await restore();
    assert.deepEqual(state(), before, 'again');
  });

  test('restoring twice changes nothing', async () => {
    repository.commit({ 'a.txt': 'a\n' }, 'work', path);
    for (const text of ['one\n', 'two\n']) {
      writeFileSync(join(path, 'a.txt'), text);
      await assertComesBack();
    }
  });
});

describe('refused discards', () => {
  let child: ChildProcess | undefined;
  afterEach(() => child?.kill('SIGKILL'));

  async function assertRefused(reason: RegExp): Promise<void> {
    const before = [readTree(path), repository.git('worktree', 'list', '--porcelain')];
    await assert.rejects(discard(), refuses(reason));
    assert.deepEqual([readTree(path), repository.git('worktree', 'list', '--porcelain')], before);
    assert.notEqual(repository.git('for-each-ref', 'refs/heads/svc/s-1'), '');
  }

  test('a worktree with a running process is not discarded', async () => {
    child = spawn('sleep', ['600'], { cwd: path, stdio: 'ignore' });
    await assertRefused(new RegExp(`process ${child.pid} works in it`));
  });

  test('a worktree that is locked, checked out elsewhere, or holds a repository is not discarded', async () => {
    repository.git('worktree', 'lock', '--reason', 'mine', path);
    await assertRefused(/its worktree is locked: mine/);
    repository.git('worktree', 'unlock', path);
    repository.gitIn(path, 'checkout', '--quiet', '--detach');
    repository.git('checkout', '--quiet', 'svc/s-1');
    await assertRefused(/is checked out at .*repository/);
    repository.git('checkout', '--quiet', 'main');
    repository.gitIn(path, 'init', '--quiet', 'inner');
    await assertRefused(/holds the git repository inner/);
  });

  test('a worktree other than the recorded one is not discarded', async () => {
    const other = await create('s-2');
    const request = {
      repository: repository.root,
      branch: 'svc/s-2',
      worktree: path,
      record: async () => {},
    };
    await assert.rejects(worktrees.discard(request), refuses(/which is not its session's/));
    assert.equal(existsSync(other), true);
  });

  test('nothing is discarded before the saved work is recorded', async () => {
    repository.commit({ 'a.txt': 'a\n' }, 'work', path);
    writeFileSync(join(path, 'a.txt'), 'changed\n');
    const before = state();
    const fails = async () => assert.fail('the disk is full');
    await assert.rejects(discard(fails), /the disk is full/);
    assert.deepEqual(state(), before);
  });

  for (const step of ['add', 'write-tree', 'commit-tree', 'update-ref'])
    test(`nothing is discarded when the disk is full and git ${step} fails`, async () => {
      writeFileSync(join(path, 'new.txt'), 'new\n');
      const before = state();
      const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
      const bin = join(repository.folder, 'bin');
      mkdirSync(bin);
      const failing = `case " $* " in *" ${step} "*) echo "fatal: No space left on device" >&2; exit 128;; esac`;
      writeFileSync(join(bin, 'git'), `#!/bin/sh\n${failing}\nexec ${real} "$@"\n`, { mode: 0o755 });
      const full = createWorktrees({
        env: gitEnvironment({ PATH: `${bin}${delimiter}${process.env.PATH}` }),
        agentsDir: join(repository.folder, 'agents'),
      });
      await assert.rejects(
        full.discard({ repository: repository.root, branch: 'svc/s-1', worktree: path, record: keepState }),
      );
      assert.deepEqual(state(), before);
      await assertComesBack();
    });

  test('discarding work that is already gone says so', async () => {
    await discard();
    assert.equal((await discard()).isGone, true);
  });
});

describe('refused restores', () => {
  test('nothing is restored in the place of another branch or folder', async () => {
    repository.commit({ 'a.txt': 'a\n' }, 'work', path);
    await discard();
    const other = repository.commit({ 'b.txt': 'b\n' });
    repository.git('branch', 'svc/s-1', other);
    await assert.rejects(restore(), /a branch svc\/s-1 already/);
    assert.equal(repository.git('rev-parse', 'svc/s-1'), other);
    repository.git('branch', '-D', 'svc/s-1');
    mkdirSync(path);
    writeFileSync(join(path, 'mine'), 'mine');
    await assert.rejects(restore(), /is in the way/);
    assert.deepEqual(readdirSync(path), ['mine']);
  });

  test('nothing is restored when its commits are gone', async () => {
    repository.commit({ 'a.txt': 'a\n' }, 'work', path);
    await discard();
    saved = { ...saved!, head: '1'.repeat(40) };
    await assert.rejects(restore(), /no longer exists/);
    assert.equal(repository.git('for-each-ref', 'refs/heads/svc/'), '');
  });

  test('a restore is complete: the remains of an interrupted attempt are rebuilt', async () => {
    repository.commit({ 'a.txt': 'a\n' }, 'work', path);
    writeFileSync(join(path, 'a.txt'), 'changed\n');
    const before = state();
    await discard();
    repository.git('branch', 'svc/s-1', before.head);
    repository.git(
      'worktree',
      'add',
      '--quiet',
      '--lock',
      '--reason',
      'svc: being restored',
      path,
      'svc/s-1',
    );
    writeFileSync(join(path, 'a.txt'), 'half');
    await restore();
    assert.deepEqual(state(), before);
  });
});
