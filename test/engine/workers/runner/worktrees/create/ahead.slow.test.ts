import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createWorktrees, type Worktrees } from '../../../../../../engine/workers/runner/worktrees/index.ts';
import { isRunning } from '../../../../../support/processes/processes.ts';
import { until } from '../../../../../support/wait.ts';
import {
  gitEnvironment,
  makeRepository,
  type TestRepository,
} from '../../../../../support/workspaces/git.ts';
import { type GitCallLog, logGitCalls } from '../../../../../support/workspaces/git-calls.ts';

let repository: TestRepository;
let worktrees: Worktrees;
let calls: GitCallLog;
beforeEach(() => {
  repository = makeRepository();
  mkdirSync(agentsDir(), { mode: 0o700 });
  calls = logGitCalls(repository.folder);
  worktrees = createWorktrees({ env: gitEnvironment(calls.env), agentsDir: agentsDir() });
});
afterEach(async () => {
  await worktrees.close();
  repository.remove();
});

const agentsDir = () => join(repository.folder, 'agents');
const pathOf = (session: string) => join(agentsDir(), 'worktrees', session);
const prepare = (...folders: string[]) =>
  worktrees.prepareAhead(folders.length > 0 ? folders : [repository.root]);
const create = (session: string) =>
  worktrees.create({
    repositoryPath: repository.root,
    worktreePath: pathOf(session),
    branch: `svc/${session}`,
    projectPath: repository.root,
  });

/** Lists the folders of files that wait. */
function listAhead(): string[] {
  const folder = join(agentsDir(), '.ahead');
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

/** Lists the processes that wait for a branch to create. */
const listBranching = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        const env = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        const isOurs = env.includes(`GIT_DIR=${join(repository.root, '.git')}`);
        // Not the program that logs its start.
        return isOurs && words[0] === 'git' && words.includes('update-ref') && isRunning(pid);
      } catch {
        return false;
      }
    });

/** Asserts that a worktree is as git makes one: its branch at the base's commit, all files, and nothing else. */
function assertFresh(session: string): void {
  const path = pathOf(session);
  const git = (...args: string[]) => repository.gitIn(path, ...args);
  assert.equal(git('rev-parse', '--symbolic-full-name', 'HEAD'), `refs/heads/svc/${session}`);
  assert.equal(git('rev-parse', 'HEAD'), repository.git('rev-parse', 'main'));
  assert.equal(git('status', '--porcelain', '--ignored'), '');
  // Compares every file, regardless of the index.
  assert.equal(git('--work-tree=.', '-c', 'core.checkStat=minimal', 'diff', 'HEAD', '--stat'), '');
  for (const name of git('ls-files').split('\n'))
    assert.equal(git('hash-object', name), git('rev-parse', `HEAD:${name}`), name);
  const listed = repository.git('worktree', 'list', '--porcelain');
  assert.match(listed, new RegExp(`worktree ${path}\nHEAD \\w+\nbranch refs/heads/svc/${session}\n(?:\n|$)`));
  assert.equal(repository.git('worktree', 'prune', '--dry-run', '--verbose'), '');
}

describe('files of the next worktree that are written ahead', () => {
  test('a start needs no git for them, and its worktree is as git makes one', async () => {
    await prepare();
    await until(() => listBranching().length === 1);
    calls.clear();
    await create('s-1');
    assert.equal(calls.count(), 0);
    assertFresh('s-1');
    const own = join(repository.root, '.git', 'worktrees', 's-1');
    await create('s-2');
    assert.ok(calls.count() > 0);
    const made = join(repository.root, '.git', 'worktrees', 's-2');
    const shared = readdirSync(made).filter((name) => name !== 'ORIG_HEAD');
    assert.deepEqual(readdirSync(own).sort(), shared.sort());
    for (const name of ['commondir', 'HEAD', 'gitdir'])
      assert.equal(
        readFileSync(join(own, name), 'utf8'),
        readFileSync(join(made, name), 'utf8').replace('s-2', 's-1'),
        name,
      );
    assert.equal(statSync(pathOf('s-1')).mode, statSync(pathOf('s-2')).mode);
    // Work in it is work like any other.
    repository.commit({ 'a.txt': 'a\n' }, 'work', pathOf('s-1'));
    assert.equal(
      repository.gitIn(pathOf('s-1'), 'rev-parse', 'HEAD@{1}'),
      repository.git('rev-parse', 'main'),
    );
    repository.git('worktree', 'remove', pathOf('s-1'));
  });

  test('no list shows them, and neither prune nor gc of git harms them', async () => {
    const before = repository.git('worktree', 'list');
    await prepare();
    await until(() => listBranching().length === 1);
    assert.equal(repository.git('worktree', 'list'), before);
    assert.equal(repository.git('status', '--porcelain'), '');
    const where = { repository: repository.root, worktreesDir: join(agentsDir(), 'worktrees') };
    assert.deepEqual((await worktrees.readStatus(where)).worktrees, []);
    const plan = await worktrees.planPrune({ ...where, keep: () => false, isOurs: () => true });
    assert.deepEqual(plan.entries, []);
    repository.git('worktree', 'prune', '--expire=now');
    repository.git('gc', '--quiet', '--prune=now');
    calls.clear();
    await create('s-1');
    assert.equal(calls.count(), 0);
    assertFresh('s-1');
  });

  test('a prune of git at any moment of a start leaves its worktree in place', async () => {
    const loop = `while [ -e ${repository.root}/.git ]; do git worktree prune --expire=now; done`;
    const pruning = execFile('/bin/sh', ['-c', loop], { cwd: repository.root, env: gitEnvironment() });
    try {
      for (let at = 1; at <= 15; at += 1) {
        await prepare();
        await create(`s-${at}`);
        assertFresh(`s-${at}`);
      }
    } finally {
      pruning.kill('SIGKILL');
      await once(pruning, 'exit');
    }
  });

  test('of starts at the same time one takes them, and all are right', async () => {
    await prepare();
    const sessions = ['s-1', 's-2', 's-3'];
    await Promise.all(sessions.map(create));
    for (const session of sessions) assertFresh(session);
    assert.deepEqual(listAhead(), []);
  });

  test('they are written once, again for another commit, and removed once no project wants them', async () => {
    await prepare();
    const [first] = listAhead();
    await prepare(join(repository.root, 'app'), repository.root);
    assert.deepEqual(listAhead(), [first], 'one for each repository');
    repository.commit({ 'b.txt': 'b\n' });
    await prepare();
    const [second] = listAhead();
    assert.notEqual(second, first);
    await create('s-1');
    assertFresh('s-1');
    await prepare();
    await worktrees.prepareAhead([]);
    assert.deepEqual(listAhead(), []);
    await until(() => listBranching().length === 0);
  });

  test('nothing is left of them when their owner closes, and what a killed one left goes at the next look', async () => {
    await prepare();
    await until(() => listBranching().length === 1);
    await worktrees.close();
    assert.deepEqual(listAhead(), []);
    await until(() => listBranching().length === 0);
    const left = join(agentsDir(), '.ahead', 'left.new', 'tree');
    mkdirSync(left, { recursive: true });
    const next = createWorktrees({ env: gitEnvironment(), agentsDir: agentsDir() });
    await next.prepareAhead([]);
    await next.close();
    assert.deepEqual(listAhead(), []);
  });
});

const inTree = (path: string) => join(listAhead()[0] ?? '', 'tree', path);

/** Changes of files while they wait. */
const CHANGES: Record<string, () => unknown> = {
  'the base has moved': () => repository.commit({ 'b.txt': 'b\n' }),
  'a file was changed': () => writeFileSync(inTree('README.md'), 'other\n'),
  'a file was changed, with its old size and time': () => {
    const { mtime, atime } = statSync(inTree('README.md'));
    writeFileSync(inTree('README.md'), 'ONE\ntwo\nthree\n');
    utimesSync(inTree('README.md'), atime, mtime);
  },
  'a file was removed': () => rmSync(inTree('app/main.txt')),
  'a file was added': () => writeFileSync(inTree('new.txt'), 'new\n'),
  'a git folder was added': () => mkdirSync(inTree('.git')),
  'a file was changed together with the index': () => {
    const index = join(listAhead()[0] ?? '', 'index');
    writeFileSync(inTree('README.md'), 'other\n');
    writeFileSync(`${index}.new`, readFileSync(index));
    renameSync(`${index}.new`, index);
  },
  'a setting has changed': () => repository.git('config', 'core.autocrlf', 'true'),
  'all files are gone': () => rmSync(listAhead()[0] ?? '', { recursive: true }),
  'the git that waits was killed': async () => {
    const [pid = 0] = listBranching();
    process.kill(pid, 'SIGKILL');
    await until(() => !isRunning(pid));
  },
  'a git folder of that name exists': () =>
    repository.git('worktree', 'add', '--quiet', '--detach', join(repository.folder, 's-1')),
};

describe('files that were written ahead, and are not used', () => {
  for (const [change, arrange] of Object.entries(CHANGES))
    test(`after ${change} the worktree is made by git`, async () => {
      await prepare();
      await until(() => listBranching().length === 1);
      await arrange();
      calls.clear();
      await create('s-1');
      assert.ok(calls.count() > 0);
      assert.equal(repository.gitIn(pathOf('s-1'), 'status', '--porcelain'), '');
      assert.equal(
        readFileSync(join(pathOf('s-1'), 'README.md'), 'utf8').replaceAll('\r', ''),
        'one\ntwo\nthree\n',
      );
      assert.equal(
        repository.gitIn(pathOf('s-1'), 'rev-parse', 'HEAD', 'svc/s-1'),
        [repository.git('rev-parse', 'main'), repository.git('rev-parse', 'main')].join('\n'),
      );
      await until(() => change === 'the base has moved' || listAhead().length === 0);
    });

  test('a branch of that name with work is refused, and not moved', async () => {
    await prepare();
    const work = repository.commit({ 'a.txt': 'a\n' });
    repository.git('branch', 'svc/s-1');
    repository.git('reset', '--quiet', '--hard', 'HEAD~1');
    await assert.rejects(create('s-1'), (error: { code: string }) => error.code === 'exists');
    assert.equal(repository.git('rev-parse', 'svc/s-1'), work);
    assert.equal(listAhead().length, 1, 'the files still wait');
  });

  for (const [kind, arrange] of Object.entries({
    'more than 5000 files': () => {
      const id = repository.git('rev-parse', 'HEAD:README.md');
      const lines = Array.from({ length: 5001 }, (_, at) => `100644 ${id}\tmany/${at}\n`).join('');
      writeFileSync(join(repository.folder, 'entries'), lines);
      repository.git('read-tree', 'HEAD');
      const update = `git update-index --index-info <${join(repository.folder, 'entries')}`;
      repository.git('-c', `alias.fill=!${update}`, 'fill');
    },
    'a submodule': () =>
      repository.git(
        '-c',
        'protocol.file.allow=always',
        'submodule',
        '--quiet',
        'add',
        repository.root,
        'sub',
      ),
    'a selection of files': () => repository.git('sparse-checkout', 'set', 'app'),
    'keys of git-crypt': () => mkdirSync(join(repository.root, '.git', 'git-crypt')),
    'attributes from another file': () => repository.git('config', 'core.attributesFile', '~/attributes'),
  }))
    test(`none are written for a repository with ${kind}`, async () => {
      arrange();
      await prepare();
      assert.deepEqual(listAhead(), []);
    });

  test('none are written for a filter that fails, until the commit changes', async () => {
    repository.commit({ '.gitattributes': '*.txt filter=broken\n' });
    repository.git('config', 'filter.broken.smudge', 'false');
    repository.git('config', 'filter.broken.required', 'true');
    await prepare();
    assert.deepEqual(listAhead(), []);
    calls.clear();
    await prepare();
    assert.equal(calls.count(), 0);
    repository.commit({ '.gitattributes': '' });
    await prepare();
    assert.equal(listAhead().length, 1);
  });
});

describe('a start that was killed while it took files', () => {
  const own = () => join(repository.root, '.git', 'worktrees', 's-1');
  /** Leaves what is there after a step. */
  const STEPS: Record<string, () => void> = {
    'after the branch': () => {
      rmSync(own(), { recursive: true });
      rmSync(pathOf('s-1'), { recursive: true });
    },
    'after its git folder': () => {
      writeFileSync(join(own(), 'locked'), 'initializing');
      rmSync(pathOf('s-1'), { recursive: true });
    },
    'after its files': () => writeFileSync(join(own(), 'locked'), 'initializing'),
  };
  for (const [step, leave] of Object.entries(STEPS))
    test(`${step} it is repeated, in the same place`, async () => {
      await prepare();
      await create('s-1');
      leave();
      await create('s-1');
      assertFresh('s-1');
    });
});
