import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitEnvironment, type TestRepository } from './git.ts';

/** A layout of a repository and its git folder on disk. */
export interface Layout {
  name: string;
  /** A program that the layout needs in addition to git. */
  needs?: string;
  /** True if confined workers cannot commit there: git-lfs writes into the repository's own folder. */
  isLiteOnly?: boolean;
  /** A file that a filter changes, with the content that a worker must see. */
  filtered?: { path: string; text: string };
  /** Converts a plain repository to this layout. Returns the workspace folder. */
  arrange(repository: TestRepository): string;
}

export const isInstalled = (program: string): boolean =>
  spawnSync(program, ['--version']).error === undefined;

/** Makes a bare clone of the repository: either a `.bare` folder next to the checkouts or a separate folder. */
function cloneBare({ gitIn, folder, root }: TestRepository, to: string): string {
  gitIn(folder, 'clone', '--quiet', '--bare', root, to);
  gitIn(to, 'remote', 'remove', 'origin');
  return to;
}

function addSubmodule({ gitIn, folder, root }: TestRepository): string {
  const around = join(folder, 'around');
  gitIn(folder, 'init', '--quiet', '--initial-branch=main', around);
  gitIn(around, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', root, 'lib');
  gitIn(around, 'commit', '--quiet', '--message', 'with a submodule');
  return join(around, 'lib');
}

export const LAYOUTS: readonly Layout[] = [
  { name: 'normal', arrange: ({ root }) => root },
  {
    name: 'a linked worktree',
    arrange({ git, folder }) {
      const linked = join(folder, 'linked');
      git('worktree', 'add', '--quiet', '-b', 'work', linked);
      return linked;
    },
  },
  {
    name: 'a `.bare` folder next to sibling worktrees',
    arrange(repository) {
      const { folder, gitIn } = repository;
      const home = join(folder, 'home');
      mkdirSync(home);
      cloneBare(repository, join(home, '.bare'));
      writeFileSync(join(home, '.git'), 'gitdir: ./.bare\n');
      gitIn(home, 'worktree', 'add', '--quiet', 'main');
      gitIn(home, 'worktree', 'add', '--quiet', '-b', 'other', 'sibling');
      return join(home, 'main');
    },
  },
  {
    name: 'a worktree of a bare repository elsewhere',
    arrange(repository) {
      const { folder, gitIn } = repository;
      const bare = cloneBare(repository, join(folder, 'bare.git'));
      gitIn(bare, 'worktree', 'add', '--quiet', join(folder, 'checkout'), 'main');
      return join(folder, 'checkout');
    },
  },
  { name: 'a submodule', arrange: addSubmodule },
  {
    name: 'a submodule with settings of each worktree',
    arrange(repository) {
      const lib = addSubmodule(repository);
      repository.gitIn(lib, 'sparse-checkout', 'set', 'app');
      return lib;
    },
  },
  {
    name: 'a worktree of a submodule',
    arrange(repository) {
      const linked = join(repository.folder, 'linked');
      repository.gitIn(addSubmodule(repository), 'worktree', 'add', '--quiet', '-b', 'work', linked);
      return linked;
    },
  },
  {
    name: 'a git folder elsewhere (`--separate-git-dir`)',
    arrange({ git, root, folder }) {
      git('init', '--quiet', '--separate-git-dir', join(folder, 'elsewhere'));
      return root;
    },
  },
  {
    name: 'a `.git` that is a link',
    arrange({ root, folder }) {
      renameSync(join(root, '.git'), join(folder, 'linked.git'));
      symlinkSync(join(folder, 'linked.git'), join(root, '.git'));
      return root;
    },
  },
  {
    name: 'a sparse checkout',
    arrange({ git, commit, root }) {
      commit({ 'far/away.txt': 'not here\n' });
      git('sparse-checkout', 'set', 'app');
      return root;
    },
  },
  {
    name: 'Git LFS',
    needs: 'git-lfs',
    isLiteOnly: true,
    arrange({ git, commit, root }) {
      git('lfs', 'install', '--local');
      commit({ '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n' });
      commit({ 'large.bin': 'large\n' });
      return root;
    },
  },
  {
    name: 'git-crypt',
    needs: 'git-crypt',
    filtered: { path: 'secret.txt', text: 'hidden\n' },
    arrange({ root, commit }) {
      execFileSync('git-crypt', ['init'], { cwd: root, env: gitEnvironment(), stdio: 'ignore' });
      commit({ '.gitattributes': '*secret.txt filter=git-crypt diff=git-crypt\n' });
      commit({ 'secret.txt': 'hidden\n' });
      return root;
    },
  },
  {
    name: "a filter of the repository's own",
    filtered: { path: 'a.up', text: 'loud\n' },
    arrange({ root, git, commit }) {
      commit({
        '.gitattributes': '*.up filter=up\n',
        'tools/filter.sh': 'tr "$1" "$2"\n',
      });
      git('config', 'filter.up.clean', 'sh ./tools/filter.sh a-z A-Z');
      git('config', 'filter.up.smudge', 'sh ./tools/filter.sh A-Z a-z');
      git('config', 'filter.up.required', 'true');
      commit({ 'a.up': 'loud\n' }, 'filtered', root);
      return root;
    },
  },
  {
    name: 'SHA-256',
    arrange({ root, folder, gitIn }) {
      const other = join(folder, 'sha256');
      mkdirSync(other);
      gitIn(other, 'init', '--quiet', '--initial-branch=main', '--object-format=sha256');
      cpSync(root, other, { recursive: true, filter: (path) => path !== join(root, '.git') });
      gitIn(other, 'add', '--all');
      gitIn(other, 'commit', '--quiet', '--message', 'first');
      return other;
    },
  },
  {
    name: 'a partial clone',
    arrange({ git, gitIn, root, folder }) {
      git('config', 'uploadpack.allowFilter', 'true');
      git('config', 'uploadpack.allowAnySHA1InWant', 'true');
      const clone = join(folder, 'clone');
      gitIn(folder, 'clone', '--quiet', '--filter=blob:none', `file://${root}`, clone);
      return clone;
    },
  },
  {
    name: 'a shallow clone',
    arrange({ gitIn, root, folder }) {
      const clone = join(folder, 'clone');
      gitIn(folder, 'clone', '--quiet', '--depth=1', `file://${root}`, clone);
      return clone;
    },
  },
  {
    name: 'objects of another repository (`--shared`)',
    arrange({ gitIn, root, folder }) {
      const clone = join(folder, 'clone');
      gitIn(folder, 'clone', '--quiet', '--shared', root, clone);
      return clone;
    },
  },
  {
    name: 'two names of one folder (a link)',
    arrange({ root, folder }) {
      const name = join(folder, 'name');
      symlinkSync(root, name);
      return name;
    },
  },
];
