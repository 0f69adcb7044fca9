import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createGit } from '../../engine/workers/runner/worktrees/git/create-git.ts';
import type { Git } from '../../engine/workers/runner/worktrees/git/git.ts';

/** An environment in which neither the machine's nor the user's git configuration counts. */
export function gitEnvironment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env };
  for (const name of Object.keys(env)) if (name.startsWith('GIT_') || name === 'EMAIL') delete env[name];
  return { ...env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', ...extra };
}

/** git as the engine calls it, outside a workspace. */
export const openTestGit = (env = gitEnvironment()): Git => createGit({ env, agentsDir: null }).git;

const PERSON = {
  GIT_AUTHOR_NAME: 'Test Person',
  GIT_AUTHOR_EMAIL: 'person@example.test',
  GIT_COMMITTER_NAME: 'Test Person',
  GIT_COMMITTER_EMAIL: 'person@example.test',
};

export interface TestRepository {
  /** The main checkout, on branch `main` with one commit (README.md and app/main.txt). */
  root: string;
  /** The temporary folder around it, for worktrees beside the checkout. */
  folder: string;
  /** Runs git in the main checkout, or in `cwd`; returns its output. */
  git(...args: string[]): string;
  gitIn(cwd: string, ...args: string[]): string;
  /** Writes a file, relative to the main checkout unless absolute. */
  write(path: string, text: string): void;
  /** Writes and commits on whatever `cwd` has checked out; returns the commit. */
  commit(files: Record<string, string>, subject?: string, cwd?: string): string;
  remove(): void;
}

const folders = new Set<string>();

/** What ends a process without the event that says so: a run of tests that is given up sends one of these. */
const ENDINGS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A folder below the system's temporary one, with links resolved. It goes with this process at the latest. */
export function temporaryFolder(name = 'svc-test-'): string {
  if (folders.size === 0) {
    process.once('exit', () => {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    });
    for (const signal of ENDINGS)
      process.once(signal, () => {
        // Whoever else listens ends the process in a way of their own.
        if (process.listenerCount(signal) === 0) process.exit(1);
      });
  }
  const folder = realpathSync(mkdtempSync(join(realpathSync(tmpdir()), name)));
  folders.add(folder);
  return folder;
}

export const runGit = (cwd: string, ...args: string[]): string =>
  // A commit would start another program that looks whether there is something to pack.
  execFileSync('git', ['-c', 'maintenance.auto=false', ...args], {
    cwd,
    encoding: 'utf8',
    env: gitEnvironment(PERSON),
    stdio: ['ignore', 'pipe', 'pipe'],
  }).replace(/\n$/, '');

/**
 * Makes the repositories that all others are copies of, since git takes several calls for each: `plain`, and `workspace`, which
 * has a commit with svc.yaml besides. Returns the folder of both.
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

/** The runner's, which all test files share; a file that is run alone makes its own. */
let first = process.env.FIRST_REPOSITORIES;
function copyFirst(name: 'plain' | 'workspace', root: string): void {
  first ??= makeFirstRepositories();
  cpSync(join(first, name), root, { recursive: true, preserveTimestamps: true });
}

interface RepositoryOptions {
  /** It has no commit. */
  empty?: boolean;
  /** This is committed in it as well, as svc.yaml. */
  workspace?: string;
}

/** A real repository in a temporary folder. Its config has no user name. */
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
    // The index knows its files by their place on the disk too.
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
