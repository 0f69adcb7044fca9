import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../../../core/base/errors.ts';
import { type Git, NOT_INSIDE, splitRecords } from '../git/git.ts';
import { listFlagged, withoutFlags } from '../git/index-flags.ts';
import { branchRef } from '../git/refs.ts';
import { readRegularFile } from '../git/regular-file.ts';
import { findOperation, listWorktrees, readGitDir, readRebasedBranch } from '../git/repository.ts';
import { carefulEnvironment } from '../inspect/contents.ts';
import { verifyToplevel } from '../inspect/inspect.ts';

/** The checkout of a branch, which has to be updated when the branch moves. */
export interface BranchCheckout {
  /**
   * `none`: the branch is not checked out. `changed`: it has uncommitted changes, which an update keeps. `dirty`: the
   * checkout cannot be updated.
   */
  state: 'none' | 'clean' | 'changed' | 'dirty';
  path: string | null;
  /** The files with uncommitted changes: for `dirty`, the ones that prevent the update. */
  paths: string[];
  /** The reason why it is not clean, as the end of a sentence about the checkout. */
  reason: string | null;
}

const blockedCheckout = (path: string, reason: string, paths: string[] = []): BranchCheckout => ({
  state: 'dirty',
  path,
  paths,
  reason,
});

/** Paths in a sentence. */
export const listFirstPaths = (paths: readonly string[]): string => paths.slice(0, 5).join(', ');

export const dirtyCheckoutError = ({
  path,
  reason,
  paths,
}: Pick<BranchCheckout, 'path' | 'reason' | 'paths'>): SvcError =>
  new SvcError('checkout_dirty', `the checkout ${path} ${reason}; nothing was changed`, {
    hint: 'commit or stash what is there, then promote again',
    data: { path, paths },
  });

export interface FoundCheckout {
  checkout: BranchCheckout;
  /** The checkout's git folder; null if it cannot be updated. */
  gitDir: string | null;
  /** Tracked files with uncommitted changes. They only block an update that touches them. */
  changed: string[];
}

/** Finds the checkout of a branch. Throws `worktree_unsafe`. */
export async function findBranchCheckout(git: Git, root: string, base: string): Promise<FoundCheckout> {
  const without = (checkout: BranchCheckout): FoundCheckout => ({ checkout, gitDir: null, changed: [] });
  const ref = branchRef(base);
  let found: string | null = null;
  for (const entry of await listWorktrees(git, root)) {
    if (entry.prunable) continue;
    // A branch under rebase is checked out nowhere, but moving it would make the rebase fail at its end.
    const { isUnlocated } = entry;
    const ofEntry = async () => (isUnlocated ? entry.path : readGitDir(git, entry.path));
    if (entry.ref === null && readRebasedBranch(await ofEntry()) === ref) {
      return without(blockedCheckout(entry.path, `is in the middle of a rebase of ${base}`));
    }
    if (entry.ref !== ref) continue;
    if (found !== null)
      return without(blockedCheckout(entry.path, `and ${found} both have ${base} checked out`));
    if (isUnlocated)
      return without(
        blockedCheckout(entry.path, `has ${base} checked out in a folder that git has not recorded`),
      );
    found = entry.path;
  }
  if (found === null) return without({ state: 'none', path: null, paths: [], reason: null });
  const gitDir = await verifyToplevel(git, found);
  const operation = findOperation(gitDir);
  if (operation !== null) return without(blockedCheckout(found, `is in the middle of a ${operation}`));
  const records = await listChangedRecords(git, found, gitDir);
  const unmerged = records.filter(isUnmerged).map(toPath);
  if (unmerged.length > 0)
    return without(blockedCheckout(found, `has conflicts in ${listFirstPaths(unmerged)}`, unmerged));
  const changed = records.map(toPath);
  return { checkout: describeFollower(found, changed), gitDir, changed };
}

const describeFollower = (path: string, changed: string[]): BranchCheckout =>
  changed.length === 0
    ? { state: 'clean', path, paths: [], reason: null }
    : {
        state: 'changed',
        path,
        paths: changed,
        reason: `has changes that stay as they are: ${listFirstPaths(changed)}`,
      };

/** Reports whether a checkout exists and can be updated, as far as is known. */
const canFollow = ({ state }: BranchCheckout): boolean => state === 'clean' || state === 'changed';

/** Lists the tracked files with uncommitted changes, as `git status` records, regardless of index marks. */
async function listChangedRecords(git: Git, path: string, gitDir: string): Promise<string[]> {
  const place = { path, gitDir };
  const env = carefulEnvironment(path);
  const status = ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=no', NOT_INSIDE];
  const { stdout } = await withoutFlags(git, place, await listFlagged(git, place, env), env, (own) =>
    git.run(path, status, { env: own }),
  );
  return splitRecords(stdout);
}

const toPath = (record: string): string => record.slice(3);
const isUnmerged = (record: string): boolean => /^(?:U.|.U|AA|DD) /.test(record);

/** Lists the folders above a path, and the path itself. */
const listAbove = (path: string): string[] =>
  path.split('/').map((_, at, parts) => parts.slice(0, at + 1).join('/'));

/** Marks the checkout dirty if an update would touch files with uncommitted changes. */
export function checkTouchedFiles(
  { checkout, changed }: Pick<FoundCheckout, 'checkout' | 'changed'>,
  touched: readonly string[],
): BranchCheckout {
  const { path } = checkout;
  if (path === null || !canFollow(checkout) || changed.length === 0) return checkout;
  const files = new Set(touched);
  const filesAndFolders = new Set(touched.flatMap(listAbove));
  // A file in the place of a folder, and vice versa, blocks it as well.
  const paths = changed.filter(
    (each) => filesAndFolders.has(each) || listAbove(each).some((above) => files.has(above)),
  );
  return paths.length === 0
    ? checkout
    : blockedCheckout(path, `has changes in ${listFirstPaths(paths)}`, paths);
}

/** Reports whether a branch is checked out right now. Reading HEAD is enough if git keeps it as a one-line file. */
export async function isBranchCheckedOut(
  git: Git,
  { path, gitDir }: { path: string; gitDir: string | null },
  branch: string,
): Promise<boolean> {
  const ref = branchRef(branch);
  if (gitDir !== null && readRegularFile(join(gitDir, 'HEAD')) === `ref: ${ref}\n`) return true;
  return (await git.text(path, ['symbolic-ref', '--quiet', 'HEAD'], { allowFail: true })) === ref;
}

/** At most this many are passed to git by name; one is enough to stop a checkout. */
const MAX_ASKED = 500;

/** Marks the checkout dirty if untracked files are in the place of new files. */
export async function checkRoomForFiles(
  git: Git,
  checkout: BranchCheckout,
  added: readonly string[],
): Promise<BranchCheckout> {
  const { path } = checkout;
  if (path === null || !canFollow(checkout)) return checkout;
  const taken = [...new Set(added.flatMap((name) => findObstacle(path, name) ?? []))].slice(0, MAX_ASKED);
  if (taken.length === 0) return checkout;
  // Git moves tracked files out of the way itself. Ignored files count too: a user's file is never replaced silently.
  const { stdout } = await git.run(path, [
    'ls-files',
    '-z',
    '--others',
    '--',
    ...taken.map((name) => `:(literal)${name}`),
  ]);
  const paths = splitRecords(stdout);
  return paths.length === 0
    ? checkout
    : blockedCheckout(path, `has files in the way: ${listFirstPaths(paths)}`, paths);
}

/** Returns the existing path that blocks a file: the path itself, or a file in the place of one of its folders. */
function findObstacle(root: string, name: string): string | null {
  const parts = name.split('/');
  for (let count = 1; count <= parts.length; count += 1) {
    const part = parts.slice(0, count).join('/');
    const stat = lstatSync(join(root, part), { throwIfNoEntry: false });
    if (stat === undefined) return null;
    if (count === parts.length || !stat.isDirectory()) return part;
  }
  return null;
}
