import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Dependency folders: repositories in them are copies, and too many to inspect. */
export const NOT_WORK = new Set(['node_modules', '.venv', 'venv', 'vendor', 'target', '.cargo', '.svc']);
const MAX_DEPTH = 3;
const MAX_FOLDERS = 2000;

/** Finds repositories in ignored folders near the top, which `git status` does not mention. */
function findInsideIgnored(root: string, folders: readonly string[]): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const queue = folders.map((folder) => ({ folder, depth: 0 }));
  for (let looked = 0; queue.length > 0 && looked < MAX_FOLDERS; looked += 1) {
    const { folder, depth } = queue.shift()!;
    if (seen.has(folder) || NOT_WORK.has(folder.split('/').at(-1) ?? '')) continue;
    seen.add(folder);
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

const endsWithSlash = (name: string): boolean => name.endsWith('/');
const trimSlash = (name: string): string => name.slice(0, -1);

/**
 * Lists ignored folders, and folders with only ignored files: git looks into a damaged repository, and a repository
 * whose files are ignored one by one is listed nowhere.
 */
function listIgnoredFolders(ignored: readonly string[], others: readonly string[]): string[] {
  if (ignored.length === 0) return [];
  const known = new Set<string>();
  for (const name of others) {
    for (let end = name.lastIndexOf('/'); end > 0; end = name.lastIndexOf('/', end - 1)) {
      const folder = name.slice(0, end);
      if (known.has(folder)) break;
      known.add(folder);
    }
  }
  const folders = new Set<string>();
  for (const name of ignored) {
    let end = name.indexOf('/');
    while (end > 0 && known.has(name.slice(0, end))) end = name.indexOf('/', end + 1);
    if (end < 0) continue;
    const top = name.slice(0, end);
    folders.add(top);
    if (endsWithSlash(name) && !NOT_WORK.has(top.split('/').at(-1) ?? '')) folders.add(trimSlash(name));
  }
  return [...folders];
}

/**
 * Finds git repositories inside a worktree, as paths relative to it. Their commits are nowhere else, so a worktree
 * that holds one is never removed automatically. Initialised submodules count too.
 * @param files what `git status` lists; and the index, `links` being its entries for repositories
 */
export function findNestedRepositories(
  path: string,
  files: {
    untracked: readonly string[];
    ignored: readonly string[];
    staged: readonly string[];
    links: readonly string[];
  },
): string[] {
  const open = files.untracked.filter(endsWithSlash).map(trimSlash);
  const links = files.links.filter((link) => existsSync(join(path, link, '.git')));
  const others = [...files.staged, ...files.untracked];
  const hidden = findInsideIgnored(path, listIgnoredFolders(files.ignored, others));
  return [...new Set([...open, ...links, ...hidden])].sort();
}
