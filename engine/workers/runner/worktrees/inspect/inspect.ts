import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { SvcError } from '../../../../core/base/errors.ts';
import type { Git } from '../git/git.ts';
import { verifyOwnGitDir } from '../git/own-git-dir.ts';
import { isObjectId, resolveCommit } from '../git/refs.ts';
import { readRegularFile } from '../git/regular-file.ts';
import { samePath } from '../git/repository.ts';
import { findTraps } from '../git/traps.ts';

/**
 * Finds a link or pipe among the files that git writes for a worktree: git creates none, and would follow a link to
 * another file or wait at a pipe. A worker can write to that folder, even a confined one. Null if there is none, and
 * for a main checkout.
 */
function findTrap(gitDir: string): string | null {
  if (basename(dirname(gitDir)) !== 'worktrees') return null;
  return findTraps(gitDir, { links: true })[0] ?? null;
}

const unsafeWorktreeError = (path: string, reason: string): SvcError =>
  new SvcError('worktree_unsafe', `${path} ${reason}`, { hint: 'inspect it by hand', data: { path } });

function resolveOrRefuse(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    throw unsafeWorktreeError(path, 'does not exist or cannot be read');
  }
}

/** Parses the git folder from git's answer, after checking that the checkout's top is the folder itself. */
function parseGitDir(path: string, real: string, lines: readonly string[]): string {
  // A path may hold a newline.
  const first = (count: number): string => lines.slice(0, count).join('\n');
  const isSameFolder = (folder: string): boolean => existsSync(folder) && realpathSync(folder) === real;
  const end = lines.findIndex((_, at) => isSameFolder(first(at + 1)));
  if (end === -1) throw unsafeWorktreeError(path, `belongs to the checkout ${lines[0]}`);
  const gitDir = lines.slice(end + 1).join('\n');
  checkTraps(path, gitDir);
  return gitDir;
}

function checkTraps(path: string, gitDir: string): void {
  const trap = findTrap(gitDir);
  if (trap !== null) throw unsafeWorktreeError(path, `has a link or pipe in its git folder: ${trap}`);
}

/** Verifies R2, that git in this folder operates on this folder. Returns its git folder. Throws `worktree_unsafe`. */
export async function verifyToplevel(git: Git, path: string): Promise<string> {
  const real = resolveOrRefuse(path);
  const look = ['rev-parse', '--show-toplevel', '--absolute-git-dir'];
  const { code, stdout } = await git.run(path, look, { allowFail: true });
  if (code !== 0) throw unsafeWorktreeError(path, 'is not a git worktree any more');
  return parseGitDir(path, real, stdout.replace(/\n$/, '').split('\n'));
}

/**
 * Returns the git folder of a session's worktree, for passing it to git explicitly. Throws `worktree_unsafe` unless
 * the two were created for each other. Asks git only if settings of this worktree may lead it elsewhere.
 */
export async function gitDirOfWorktree(git: Git, path: string, commonDir: string): Promise<string> {
  const gitDir = verifyOwnGitDir(path, commonDir);
  if (existsSync(join(gitDir, 'config.worktree'))) await verifyToplevel(git, path);
  return gitDir;
}

/** A checkout that git treats as itself (R2), and what HEAD names. */
export interface LocatedWorktree {
  gitDir: string;
  /** The git folder that all worktrees of the repository share. */
  commonDir: string;
  /** The commit that HEAD names; null before the first commit. */
  head: string | null;
  /** The full name of HEAD's ref; null if it is detached. */
  ref: string | null;
}

export interface WorktreeInspection extends LocatedWorktree {
  /** The commit's tree; both are null also if git cannot read the commit. */
  tree: string | null;
}

const WHOLE = [
  'rev-parse',
  '--path-format=absolute',
  '--show-toplevel',
  '--absolute-git-dir',
  '--git-common-dir',
  'HEAD^{commit}',
  'HEAD^{tree}',
  '--symbolic-full-name',
  'HEAD',
];

/**
 * Reports whether the git folder of a worktree points back to the worktree. A worker can write the `.git` of its
 * worktree, and work saved there would then go into another checkout's index and move its HEAD.
 */
function isNamedBack(gitDir: string, real: string): boolean {
  if (basename(dirname(gitDir)) !== 'worktrees') return false;
  const named = readRegularFile(join(gitDir, 'gitdir'))?.replace(/\n$/, '');
  return named !== undefined && samePath(dirname(resolve(gitDir, named)), real);
}

/** Verifies a session's worktree as `verifyToplevel` does and reads what HEAD names. Throws `worktree_unsafe`. */
export async function locateWorktree(git: Git, path: string): Promise<LocatedWorktree> {
  const real = resolveOrRefuse(path);
  return checkNamedBack(path, real, locateByFiles(git, path, real) ?? (await inspectAtOnce(git, path, real)));
}

/** Does the same, and ensures that git can read the commit. Throws `worktree_unsafe`. */
export async function inspectWorktree(git: Git, path: string): Promise<WorktreeInspection> {
  const real = resolveOrRefuse(path);
  const found = locateByFiles(git, path, real);
  const commit = found === null ? null : await git.readCommit(found.commonDir, found.head);
  const look =
    found === null || commit === null
      ? await inspectAtOnce(git, path, real)
      : { ...found, tree: commit.tree };
  return checkNamedBack(path, real, look);
}

function checkNamedBack<T extends LocatedWorktree>(path: string, real: string, look: T): T {
  if (isNamedBack(look.gitDir, real)) return look;
  throw unsafeWorktreeError(path, `uses a git folder that was not made for it: ${look.gitDir}`);
}

/** Reads a checkout in the usual format without git; null if git has to be asked. */
function locateByFiles(git: Git, path: string, real: string): (LocatedWorktree & { head: string }) | null {
  const found = git.readCheckout(real);
  if (found === null) return null;
  const { gitDir, commonDir, head, ref } = found;
  checkTraps(path, gitDir);
  return { gitDir, commonDir, head, ref };
}

/** Reads everything with one git call, if every part has an answer. */
async function inspectAtOnce(git: Git, path: string, real: string): Promise<WorktreeInspection> {
  const { code, stdout } = await git.run(path, WHOLE, { allowFail: true });
  const lines = stdout.replace(/\n$/, '').split('\n');
  const [top = '', own = '', commonDir = '', head, tree, ref = ''] = lines;
  const isNamed = ref === 'HEAD' || ref.startsWith('refs/');
  if (code === 0 && lines.length === 6 && isObjectId(head) && isObjectId(tree) && isNamed) {
    const gitDir = parseGitDir(path, real, [top, own]);
    return { gitDir, commonDir, head, tree, ref: ref === 'HEAD' ? null : ref };
  }
  return inspectByParts(git, path);
}

/** Reads the parts one by one: nothing is committed yet, HEAD is damaged, or a path holds a newline. */
async function inspectByParts(git: Git, path: string): Promise<WorktreeInspection> {
  const gitDir = await verifyToplevel(git, path);
  const commonDir = await git.text(path, ['rev-parse', '--path-format=absolute', '--git-common-dir']);
  const head = await resolveCommit(git, path, 'HEAD');
  const symbolic = await git.run(path, ['symbolic-ref', '--quiet', 'HEAD'], { allowFail: true });
  return {
    gitDir,
    commonDir,
    head,
    tree: head === null ? null : await git.text(path, ['rev-parse', `${head}^{tree}`]),
    ref: symbolic.code === 0 ? symbolic.stdout.trim() : null,
  };
}
