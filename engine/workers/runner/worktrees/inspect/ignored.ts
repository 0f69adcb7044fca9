import { cpSync, type Dirent, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NOT_WORK } from './nested.ts';

/** Above this total size, ignored files are kept when their worktree is removed with merged work. */
const MOST_LOST_BYTES = 4 * 1024 * 1024;
const MOST_ENTRIES = 200_000;

/** Lists ignored files that may be work: neither svc's own nor files that a package manager recreates. */
export const selectIgnoredWork = (ignored: readonly string[]): string[] =>
  ignored
    .map((name) => name.replace(/\/$/, ''))
    .filter((name) => !name.split('/').some((part) => NOT_WORK.has(part)));

/** Returns the total size in bytes at a path; links count as themselves. */
function measureSize(path: string): number {
  let bytes = 0;
  const queue = [path];
  for (let looked = 0; queue.length > 0 && looked < MOST_ENTRIES; looked += 1) {
    const at = queue.pop()!;
    const stat = lstatSync(at, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    bytes += stat.isDirectory() ? 0 : stat.size;
    if (stat.isDirectory()) queue.push(...readFolderEntries(at).map(({ name }) => join(at, name)));
  }
  return bytes;
}

function readFolderEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // shut
  }
}

/**
 * Describes which ignored files are removed with a worktree, and moves them into `aside` if they exceed `mostLost`
 * bytes, a few megabytes, since no commit holds them. Files that only the worker's own rules hide are always moved.
 * Returns a sentence for each, or none.
 */
export function keepIgnoredFiles(
  worktree: string,
  { ignored, hidden }: { ignored: readonly string[]; hidden: readonly string[] },
  aside: string | null,
  mostLost = MOST_LOST_BYTES,
): string[] {
  const names = selectIgnoredWork(ignored);
  const isAt = (name: string, file: string): boolean => file === name || file.startsWith(`${name}/`);
  // Without a limit a folder is moved as a whole, with the files in it.
  const isWhole = mostLost === 0;
  const apart = isWhole ? hidden.filter((file) => !names.some((name) => isAt(name, file))) : hidden;
  const rest = isWhole ? names : names.filter((name) => !hidden.some((file) => isAt(name, file)));
  return [...keepFiles(worktree, apart, aside, -1), ...keepFiles(worktree, rest, aside, mostLost)];
}

function keepFiles(
  worktree: string,
  names: readonly string[],
  aside: string | null,
  mostLost: number,
): string[] {
  if (names.length === 0) return [];
  const bytes = names.reduce((sum, name) => sum + measureSize(join(worktree, name)), 0);
  const named = `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;
  if (bytes <= mostLost || aside === null) return [`ignored files went with the worktree: ${named}`];
  for (const name of names) moveIgnored(join(worktree, name), join(aside, name));
  return [`ignored files of ${formatSize(bytes)} are kept in ${aside}: ${named}`];
}

const formatSize = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${Math.round(bytes / 1024 / 1024)} MB`;

/** Moves kept ignored files back into their worktree, except where a file exists. */
export function returnIgnoredFiles(worktree: string, kept: string): void {
  for (const { name } of readFolderEntries(kept)) {
    const [from, to] = [join(kept, name), join(worktree, name)];
    const found = lstatSync(to, { throwIfNoEntry: false });
    if (found === undefined) moveIgnored(from, to);
    else if (found.isDirectory() && lstatSync(from).isDirectory()) returnIgnoredFiles(to, from);
  }
  if (readFolderEntries(kept).length === 0) rmSync(kept, { recursive: true, force: true });
}

function moveIgnored(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  try {
    renameSync(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    if (code !== 'EXDEV') throw error;
    cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    rmSync(from, { recursive: true, force: true });
  }
}
