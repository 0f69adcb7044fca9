import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createGit } from '../../../engine/workers/runner/worktrees/git/create-git.ts';
import type { Git } from '../../../engine/workers/runner/worktrees/git/git.ts';

/** An environment that ignores the git configuration of the machine and the user. */
export function gitEnvironment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env };
  // Without a desktop, which would show the questions of the tests.
  for (const name of Object.keys(env))
    if (name.startsWith('GIT_') || name === 'EMAIL' || name === 'DBUS_SESSION_BUS_ADDRESS') delete env[name];
  return { ...env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', ...extra };
}

/** Runs git as the engine does, outside a workspace. */
export const openTestGit = (env = gitEnvironment()): Git => createGit({ env, agentsDir: null }).git;

const PERSON = {
  GIT_AUTHOR_NAME: 'Test Person',
  GIT_AUTHOR_EMAIL: 'person@example.test',
  GIT_COMMITTER_NAME: 'Test Person',
  GIT_COMMITTER_EMAIL: 'person@example.test',
};

export interface TestRepository {
  /** The main checkout: branch `main` with one commit (README.md and app/main.txt). */
  root: string;
  /** The temporary folder that contains the checkout, with room for worktrees. */
  folder: string;
  /** Runs git in the main checkout or in `cwd`; returns its output. */
  git(...args: string[]): string;
  gitIn(cwd: string, ...args: string[]): string;
  /** Writes a file; relative paths start at the main checkout. */
  write(path: string, text: string): void;
  /** Writes and commits on the branch that `cwd` has checked out; returns the commit. */
  commit(files: Record<string, string>, subject?: string, cwd?: string): string;
  remove(): void;
}

const folders = new Set<string>();

/** Signals that end a process without an exit event; an aborted test run sends one of these. */
const ENDINGS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Creates a folder below the system's temporary folder, with links resolved. It is removed when this process ends, at
 * the latest.
 */
export function temporaryFolder(name = 'svc-test-'): string {
  if (folders.size === 0) {
    process.once('exit', () => {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    });
    for (const signal of ENDINGS)
      process.once(signal, () => {
        // Other listeners end the process themselves.
        if (process.listenerCount(signal) === 0) process.exit(1);
      });
  }
  const folder = realpathSync(mkdtempSync(join(realpathSync(tmpdir()), name)));
  folders.add(folder);
  return folder;
}

export const runGit = (cwd: string, ...args: string[]): string =>
  // Otherwise a commit starts another program that checks whether to pack.
  execFileSync('git', ['-c', 'maintenance.auto=false', ...args], {
    cwd,
    encoding: 'utf8',
    env: gitEnvironment(PERSON),
    stdio: ['ignore', 'pipe', 'pipe'],
  }).replace(/\n$/, '');

/**
 * Creates the repositories that all others are copied from, because creating one takes several git calls: `plain`,
 * and `workspace`, which also has a commit with svc.yaml. Returns the folder of both.
 */
export function makeFirstRepositories(): string {
  const folder = temporaryFolder('svc-test-first-');
  const plain = join(folder, 'plain');
  mkdirSync(plain);
  runGit(plain, 'init', '--quiet', '--initial-branch=main');
  const hooks = join(plain, '.git/hooks');
  for (const name of readdirSync(hooks)) if (name.endsWith('.sample')) rmSync(join(hooks, name));
  writeFileSync(join(plain, 'README.md'), 'one\ntwo\nthree\n');
  mkdirSync(join(plain, 'app'));
  writeFileSync(join(plain, 'app/main.txt'), 'start\n');
  runGit(plain, 'add', '--all');
  runGit(plain, 'commit', '--quiet', '--message', 'first');
  const workspace = join(folder, 'workspace');
  cpSync(plain, workspace, { recursive: true, preserveTimestamps: true });
  writeFileSync(join(workspace, 'svc.yaml'), '');
  writeFileSync(join(workspace, '.gitignore'), '.svc/\n');
  runGit(workspace, 'add', '--all');
  runGit(workspace, 'commit', '--quiet', '--message', 'workspace');
  return folder;
}

/** All test files share the runner's folder; a file that runs alone creates its own. */
let first = process.env.FIRST_REPOSITORIES;
function copyFirst(name: 'plain' | 'workspace', root: string): void {
  first ??= makeFirstRepositories();
  cpSync(join(first, name), root, { recursive: true, preserveTimestamps: true });
}

interface RepositoryOptions {
  /** True for a repository without commits. */
  empty?: boolean;
  /** Content of svc.yaml, which is committed too. */
  workspace?: string;
}

/** Creates a real repository in a temporary folder. Its config has no user name. */
export function makeRepository({ empty = false, workspace }: RepositoryOptions = {}): TestRepository {
  const folder = temporaryFolder();
  const root = join(folder, 'repository');
  const write = (path: string, text: string): void => {
    const file = path.startsWith('/') ? path : join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  const commit: TestRepository['commit'] = (files, subject = 'change', cwd = root) => {
    const paths = Object.keys(files);
    for (const path of paths) write(join(cwd, path), files[path] ?? '');
    if (paths.length > 0) runGit(cwd, 'add', '--force', '--', ...paths);
    runGit(cwd, 'commit', '--quiet', '--allow-empty', '--message', subject);
    return runGit(cwd, 'rev-parse', 'HEAD');
  };
  if (empty) {
    mkdirSync(root);
    runGit(root, 'init', '--quiet', '--initial-branch=main');
  } else if (workspace !== undefined) {
    copyFirst('workspace', root);
    write('svc.yaml', workspace);
    runGit(root, 'commit', '--quiet', '--amend', '--no-edit', '--', 'svc.yaml');
  } else {
    copyFirst('plain', root);
    // The index also identifies files by inode.
    runGit(root, 'update-index', '-q', '--refresh');
  }
  return {
    root,
    folder,
    git: (...args) => runGit(root, ...args),
    gitIn: runGit,
    write,
    commit,
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}
