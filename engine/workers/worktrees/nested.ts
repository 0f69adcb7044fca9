import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

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

const isFolder = (name: string): boolean => name.endsWith('/');
const withoutSlash = (name: string): string => name.slice(0, -1);

/**
 * Git repositories inside a worktree, as paths relative to it: their commits are nowhere else, so a worktree that
 * holds one is never removed by itself. Initialised submodules count as well.
 * @param files what `git status` lists, and `git ls-files --stage`
 */
export function nestedIn(
  path: string,
  files: { untracked: readonly string[]; ignored: readonly string[]; staged: readonly string[] },
): string[] {
  const open = files.untracked.filter(isFolder).map(withoutSlash);
  const links = files.staged
    .filter((record) => record.startsWith('160000 '))
    .map((record) => record.slice(record.indexOf('\t') + 1))
    .filter((link) => existsSync(join(path, link, '.git')));
  const hidden = insideIgnored(path, files.ignored.filter(isFolder).map(withoutSlash));
  return [...new Set([...open, ...links, ...hidden])].sort();
}
