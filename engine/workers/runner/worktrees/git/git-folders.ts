import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { findFolderAbove } from '../../../../core/base/paths.ts';
import { readRegularFile } from './regular-file.ts';

/** The git folders of a repository that a worker may write to: its worktree's own, the objects, and the branches of sessions. */
export interface WrittenFolders {
  own: string;
  common: string;
}

/** Reports whether a folder has the three entries that make it a bare repository to git. */
export const looksLikeBareRepository = (folder: string): boolean =>
  ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));

/** Finds the nearest folder, from this one upwards, with a `.git`; null for none. */
export const findCheckoutAround = (folder: string): string | null =>
  findFolderAbove(folder, (at) => existsSync(join(at, '.git')));

/** Finds the git folders of the checkout around a folder; null if there is none, or if it names none. */
export function readGitFoldersAround(folder: string): WrittenFolders | null {
  const checkout = findCheckoutAround(folder);
  return checkout === null ? null : readGitFolders(checkout);
}

/** Finds the top folder of the repository that git would find from a folder; null for none. */
export const findTopAround = (folder: string): string | null =>
  findFolderAbove(folder, (at) => existsSync(join(at, '.git')) || looksLikeBareRepository(at));

/** Reads which git folders a checkout names; null if it names none. */
export function readGitFolders(worktree: string): WrittenFolders | null {
  const mark = join(worktree, '.git');
  const found = lstatSync(mark, { throwIfNoEntry: false });
  if (found?.isDirectory()) return { own: mark, common: mark };
  if (found?.isSymbolicLink()) {
    const own = existsSync(mark) ? realpathSync(mark) : mark;
    return looksLikeBareRepository(own) ? { own, common: own } : null;
  }
  const named = /^gitdir: (.+)$/m.exec(readRegularFile(mark) ?? '')?.[1];
  if (named === undefined) return null;
  const own = resolve(worktree, named);
  // Only git's own form is accepted; `verifyToplevel` reports anything else.
  const common = /^(.+)\/worktrees\/[^/]+$/.exec(own)?.[1];
  // A submodule may be called worktrees/…, and its git folder has no repository above it.
  const isWhole = looksLikeBareRepository(own) && (common === undefined || !looksLikeBareRepository(common));
  if (isWhole) return { own, common: own };
  return common === undefined ? null : { own, common };
}

/**
 * Finds the main checkout of a repository by its git folder, if git itself does not know it, as for a submodule. Null
 * if there is none, or its location is not recorded.
 */
export function findMainCheckout(common: string): string | null {
  const above = basename(common) === '.git' ? dirname(common) : null;
  // With per-worktree settings git keeps it apart from the shared ones.
  const recorded = ['config.worktree', 'config'].flatMap(
    (name) => /^\s*worktree\s*=\s*(.+?)\s*$/m.exec(readRegularFile(join(common, name)) ?? '')?.[1] ?? [],
  );
  const places = [...recorded.map((each) => resolve(common, each)), ...(above === null ? [] : [above])];
  // A worker without a sandbox may have written it: the folder has to name this git folder.
  return places.find((each) => isCheckoutOf(each, common)) ?? null;
}

/** Reports whether a folder is the main checkout that belongs to a git folder. */
export function isCheckoutOf(folder: string, common: string): boolean {
  const named = readGitFolders(folder);
  if (named === null || named.own !== named.common || !existsSync(named.own)) return false;
  return realpathSync(named.own) === realpathSync(common);
}

/** Reads the git folder that all worktrees of a checkout's repository share, without asking git; null if it names none. */
export function readCommonDir(checkout: string): string | null {
  const named = readGitFolders(checkout)?.common;
  return named !== undefined && existsSync(named) ? realpathSync(named) : null;
}

/** The same for the checkout that a folder is in; null for none. */
export function readCommonDirAround(folder: string): string | null {
  const checkout = findCheckoutAround(folder);
  return checkout === null ? null : readCommonDir(checkout);
}
