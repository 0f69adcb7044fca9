import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Git } from './git.ts';

/** A pointer is shorter, and starts like this (git-lfs/docs/spec.md). */
const MOST_POINTER_BYTES = 1024;
const POINTER = 'version https://git-lfs.github.com/spec/';
const MOST_AT_ONCE = 500;

/** Reports whether the files of a commit, or the repository itself, name Git LFS as a filter. */
export const usesLfs = (git: Git, repository: string, commit: string): Promise<boolean> =>
  git.succeeds(repository, [
    'grep',
    '--quiet',
    '--no-textconv',
    '-e',
    'filter=lfs',
    commit,
    '--',
    ':(top,glob)**/.gitattributes',
  ]);

/**
 * Replaces pointers of Git LFS in a checkout by their content, as far as its objects are on this machine; fetches nothing.
 * Returns the paths that remain pointers.
 * @param paths files that have just been written, relative to the top folder
 */
export async function fillLfsFiles(git: Git, top: string, paths: readonly string[]): Promise<string[]> {
  const pointers = await selectLfsFiles(
    git,
    top,
    paths.filter((path) => isPointer(join(top, path))),
  );
  for (let at = 0; at < pointers.length; at += MOST_AT_ONCE)
    await git.run(top, ['lfs', 'checkout', '--', ...pointers.slice(at, at + MOST_AT_ONCE)], {
      allowFail: true,
      env: { GIT_LFS_SKIP_SMUDGE: '0' },
    });
  return pointers.filter((path) => isPointer(join(top, path)));
}

/** The files that .gitattributes assigns to Git LFS: another file may look like a pointer. */
async function selectLfsFiles(git: Git, top: string, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  const { stdout } = await git.run(top, ['check-attr', '--stdin', '-z', 'filter'], {
    allowFail: true,
    input: paths.map((path) => `${path}\0`).join(''),
  });
  const fields = stdout.split('\0');
  const filters = new Map<string, string>();
  for (let at = 0; at + 2 < fields.length; at += 3) filters.set(fields[at] ?? '', fields[at + 2] ?? '');
  return paths.filter((path) => filters.get(path) === 'lfs');
}

function isPointer(file: string): boolean {
  try {
    const found = lstatSync(file);
    if (!found.isFile() || found.size > MOST_POINTER_BYTES || found.size < POINTER.length) return false;
    return readFileSync(file, 'latin1').startsWith(POINTER);
  } catch {
    return false; // removed, or a file where its folder was
  }
}
