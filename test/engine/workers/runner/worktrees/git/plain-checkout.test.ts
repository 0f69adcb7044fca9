import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createWorktrees } from '../../../../../../engine/workers/runner/worktrees/index.ts';
import {
  gitEnvironment,
  makeRepository,
  type TestRepository,
} from '../../../../../support/workspaces/git.ts';
import { logGitCalls } from '../../../../../support/workspaces/git-calls.ts';

let repository: TestRepository;
beforeEach(() => {
  repository = makeRepository();
});
afterEach(() => repository.remove());

/** Finds the repository at a folder, and counts the git processes for that. */
async function find(folder: string, extra: Record<string, string> = {}) {
  const calls = logGitCalls(repository.folder);
  const worktrees = createWorktrees({ env: gitEnvironment({ ...calls.env, ...extra }) });
  const found = await worktrees.findRepository(folder).catch((error: { code: string }) => error.code);
  return { found, calls: calls.count() };
}

/** The same facts as git reports them. */
function askGit(folder: string) {
  const [root, commonDir, headCommit] = repository
    .gitIn(folder, 'rev-parse', '--path-format=absolute', '--show-toplevel', '--git-common-dir', 'HEAD')
    .split('\n');
  const name = repository.gitIn(folder, 'rev-parse', '--symbolic-full-name', 'HEAD');
  return { root, commonDir, head: name === 'HEAD' ? null : name.slice('refs/heads/'.length), headCommit };
}

const config = () => join(repository.root, '.git', 'config');
const inGit = (path: string) => join(repository.root, '.git', path);

/** Layouts in git's usual format; each returns the folder to look at. */
const USUAL: Record<string, () => string> = {
  'the main checkout': () => repository.root,
  'a folder in it': () => join(repository.root, 'app'),
  'a folder reached through a link': () => {
    symlinkSync(join(repository.root, 'app'), join(repository.folder, 'link'));
    return join(repository.folder, 'link');
  },
  'a linked worktree': () => {
    repository.git('worktree', 'add', '--quiet', '-b', 'other', join(repository.folder, 'other'));
    return join(repository.folder, 'other', 'app');
  },
  'packed refs': () => {
    repository.git('branch', 'main-2');
    repository.git('branch', 'a-main');
    repository.commit({ 'a.txt': 'a\n' });
    repository.git('pack-refs', '--all', '--prune');
    return repository.root;
  },
  'a linked worktree whose branch is packed': () => {
    repository.git('worktree', 'add', '--quiet', '-b', 'other', join(repository.folder, 'other'));
    repository.git('pack-refs', '--all', '--prune');
    return join(repository.folder, 'other');
  },
  'a packed branch that has moved': () => {
    repository.git('pack-refs', '--all');
    repository.commit({ 'a.txt': 'a\n' });
    return repository.root;
  },
  'a branch in a folder of branches': () => {
    repository.git('checkout', '--quiet', '-b', 'topic/one.two@three');
    return repository.root;
  },
  'a detached HEAD': () => {
    repository.git('checkout', '--quiet', '--detach');
    return repository.root;
  },
  'a branch whose section resembles a setting': () => {
    repository.git('config', 'branch.worktree-bare.remote', 'extensions');
    return repository.root;
  },
};

/** Layouts that only git can read. */
const UNUSUAL: Record<string, () => string> = {
  'SHA-256 ids': () => {
    const root = join(repository.folder, 'sha256');
    repository.git('init', '--quiet', '--object-format=sha256', root);
    repository.commit({ 'a.txt': 'a\n' }, 'first', root);
    return root;
  },
  'settings for each worktree': () => {
    repository.git('config', 'extensions.worktreeConfig', 'true');
    return repository.root;
  },
  'an extension in the line of its section': () => {
    repository.git('config', 'core.repositoryFormatVersion', '1');
    appendFileSync(config(), '[Extensions] noop = true\n');
    return repository.root;
  },
  'a checkout that was moved by a setting': () => {
    appendFileSync(config(), `[branch "a]"] merge = x\n[core] worktree = ${repository.root}\n`);
    return repository.root;
  },
  'a branch that is the alias of another': () => {
    repository.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
    writeFileSync(inGit('HEAD'), 'ref: refs/heads/alias\n');
    return repository.root;
  },
  'a HEAD that is a link': () => {
    rmSync(inGit('HEAD'));
    symlinkSync('refs/heads/main', inGit('HEAD'));
    return repository.root;
  },
  'a git folder that is a link': () => {
    renameSync(inGit(''), join(repository.folder, 'git'));
    symlinkSync(join(repository.folder, 'git'), join(repository.root, '.git'));
    return repository.root;
  },
  'a git folder that was moved by init': () => {
    repository.git('init', '--quiet', '--separate-git-dir', join(repository.folder, 'git'));
    return repository.root;
  },
  'a submodule': () => {
    const add = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add'];
    repository.git(...add, repository.root, 'sub');
    return join(repository.root, 'sub');
  },
  'a broken repository around the folder, and a sound one around that': () => {
    mkdirSync(join(repository.root, 'app', '.git'));
    return join(repository.root, 'app');
  },
};

describe('reading a repository without git', () => {
  for (const [layout, arrange] of Object.entries(USUAL))
    test(`${layout}: the files tell what git reports`, async () => {
      const folder = arrange();
      assert.deepEqual(await find(folder), { found: askGit(folder), calls: 0 });
    });

  for (const [layout, arrange] of Object.entries(UNUSUAL))
    test(`${layout}: git is asked`, async () => {
      const folder = arrange();
      const { found, calls } = await find(folder);
      assert.ok(calls > 0, 'git was not asked');
      assert.deepEqual(found, askGit(folder));
    });

  test('a folder that git must not search from does not belong to the repository above it', async () => {
    const ceiling = { GIT_CEILING_DIRECTORIES: repository.root };
    assert.equal((await find(join(repository.root, 'app'), ceiling)).found, 'git_failed');
  });

  test('a bare repository hides the repository around it, and so does a git folder', async () => {
    repository.git('clone', '--quiet', '--bare', repository.root, join(repository.root, 'bare'));
    mkdirSync(join(repository.root, 'bare', 'inside'));
    for (const folder of ['bare', join('bare', 'inside'), '.git', join('.git', 'refs')]) {
      const { found } = await find(join(repository.root, folder));
      assert.ok(['repository_empty', 'not_a_repository'].includes(String(found)), `${folder}: ${found}`);
    }
  });

  test('a branch whose name leads out of the git folder has no commit', async () => {
    writeFileSync(inGit('ORIG'), readFileSync(inGit('refs/heads/main')));
    writeFileSync(inGit('HEAD'), 'ref: refs/heads/../../ORIG\n');
    assert.ok(existsSync(inGit('refs/heads/../../ORIG')));
    const { found } = await find(repository.root);
    assert.equal(typeof found === 'string' ? found : found.headCommit, null);
  });
});
