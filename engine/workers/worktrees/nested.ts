import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Git, NOT_INSIDE, records } from './git.ts';

/** Folders of dependencies: their repositories are copies, and there are too many to look at. */
const NOT_WORK = new Set(['node_modules', '.venv', 'venv', 'vendor', 'target', '.cargo', '.svc']);
const MAX_DEPTH = 3;
const MAX_FOLDERS = 2000;

/** Repositories in ignored folders, near the top: `git status` says nothing of what is in there. */
function insideIgnored(root: string, folders: readonly string[]): string[] {
  const found: string[] = [];
  const queue = folders.map((folder) => ({ folder, depth: 0 }));
  for (let looked = 0; queue.length > 0 && looked < MAX_FOLDERS; looked += 1) {
    const { folder, depth } = queue.shift()!;
    if (NOT_WORK.has(folder.split('/').at(-1) ?? '')) continue;
    if (existsSync(join(root, folder, '.git'))) {
      found.push(folder);
      continue;
    }
    if (depth === MAX_DEPTH) continue;
    try {
      for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
        if (entry.isDirectory()) queue.push({ folder: `${folder}/${entry.name}`, depth: depth + 1 });
      }
    } catch {
      // unreadable: the removal itself will refuse it
    }
  }
  return found;
}

/**
 * Git repositories inside a worktree, as paths relative to it: their commits are nowhere else, so a worktree that
 * holds one is never removed by itself. Initialised submodules count as well.
 */
export async function findNested(git: Git, path: string): Promise<string[]> {
  const [untracked, ignored, staged] = await Promise.all([
    // With every untracked file listed, a folder is listed only where git does not look inside: a repository.
    git.run(path, ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames', NOT_INSIDE]),
    git.run(path, ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory']),
    git.run(path, ['ls-files', '-z', '--stage']),
  ]);
  const open = records(untracked.stdout)
    .filter((record) => record.startsWith('?? ') && record.endsWith('/'))
    .map((record) => record.slice(3, -1));
  const links = records(staged.stdout)
    .filter((record) => record.startsWith('160000 '))
    .map((record) => record.slice(record.indexOf('\t') + 1))
    .filter((link) => existsSync(join(path, link, '.git')));
  const hidden = insideIgnored(
    path,
    records(ignored.stdout).flatMap((record) => (record.endsWith('/') ? [record.slice(0, -1)] : [])),
  );
  return [...new Set([...open, ...links, ...hidden])].sort();
}
