import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SvcError } from '../../../../core/base/errors.ts';
import type { Git } from '../git/git.ts';
import { branchRef, isObjectId, resolveBranchOrCommit, SESSION_PREFIX } from '../git/refs.ts';
import {
  type GitRepository,
  listWorktrees,
  type RepositoryOrPath,
  realFolder,
  samePath,
  type WorktreeEntry,
} from '../git/repository.ts';

/** Selects the session worktrees of a repository and the base to compare them with. */
export interface ListingRequest {
  repository: RepositoryOrPath;
  /** The branch to compare with; by default the one checked out in `repository`. */
  base?: string;
  /** The folder of the session worktrees; folders in it that git does not know are listed too. */
  worktreesDir?: string;
  /** Reports whether a folder in there belongs to another repository, regardless of this one's records. */
  isElsewhere?: (folder: string) => boolean;
}

/** A session's branch and worktree as git lists them. */
export interface WorktreePairing {
  branch: string;
  head: string | null;
  entry: WorktreeEntry | null;
  /** A folder in `worktreesDir` that git does not know. */
  stray: string | null;
  /** Another checkout of the branch, e.g. the main one while a person looks at the work. */
  elsewhere: string | null;
}

/** Returns the base branch's name: the given one, otherwise the checked-out one. */
export function resolveBaseName({ root, head }: GitRepository, base?: string): string {
  const name = base ?? head;
  if (name !== null) return name;
  throw new SvcError('usage', `${root} has no branch checked out, so there is nothing to compare with`, {
    hint: 'name a base branch, or set SVC_GIT_BASE',
  });
}

/** The error for a base that a repository does not have. */
export const baseMissingError = (root: string, base: string): SvcError =>
  new SvcError('not_found', `there is no branch ${JSON.stringify(base)} in ${root}`, {
    hint: 'name another with --base, or one project with --project',
    data: { base, repository: root },
  });

/** Reports whether a worktree is directly in `worktreesDir`. */
export const isDirectlyIn = (worktreesDir: string | undefined, path: string | null): boolean =>
  worktreesDir !== undefined && path !== null && samePath(join(path, '..'), worktreesDir);

/** Lists the sessions' branches and worktrees in a repository, and the base's commit; null if there is no such base. */
export interface WorktreeListing {
  pairings: WorktreePairing[];
  base: string | null;
}

/** Lists session branches with their worktrees, worktrees whose branch is gone, and folders that git does not know. */
export async function listSessionWorktrees(
  git: Git,
  root: string,
  {
    base,
    worktreesDir,
    isElsewhere = () => false,
  }: Omit<ListingRequest, 'repository' | 'base'> & { base: string | null },
): Promise<WorktreeListing> {
  const sessionRef = branchRef(SESSION_PREFIX);
  const [refs, entries] = await Promise.all([
    git.text(root, [
      'for-each-ref',
      '--format=%(objectname) %(refname)',
      sessionRef,
      ...(base === null ? [] : [branchRef(base)]),
    ]),
    listWorktrees(git, root),
  ]);
  const heads = new Map(
    refs.split('\n').flatMap((line) => {
      const [id = '', ref = ''] = line.split(' ');
      return ref === '' ? [] : [[ref, id] as const];
    }),
  );
  const strays = (worktreesDir === undefined ? [] : listFolders(worktreesDir)).filter(
    (path) => !isElsewhere(path),
  );
  const found = pairBranchesWithWorktrees(heads, entries, { worktreesDir, strays });
  if (base === null) return { pairings: found, base: null };
  // A tag or a commit is accepted too; a name that is a full id means that commit.
  const branch = isObjectId(base) ? undefined : heads.get(branchRef(base));
  return { pairings: found, base: branch ?? (await resolveBranchOrCommit(git, root, base)) };
}

function pairBranchesWithWorktrees(
  heads: ReadonlyMap<string, string>,
  entries: readonly WorktreeEntry[],
  { worktreesDir, strays }: { worktreesDir: string | undefined; strays: readonly string[] },
): WorktreePairing[] {
  const sessionRef = branchRef(SESSION_PREFIX);
  const found = new Map<string, WorktreePairing>();
  for (const [ref, head] of heads) {
    if (!ref.startsWith(sessionRef)) continue;
    const branch = ref.slice('refs/heads/'.length);
    found.set(branch, { branch, head, entry: null, stray: null, elsewhere: null });
  }
  for (const entry of entries.slice(1)) {
    // An agent may have switched its worktree to another branch; the folder's name still identifies the session.
    const own = entry.ref?.startsWith(sessionRef) ? entry.ref.slice('refs/heads/'.length) : null;
    const branch = own ?? `${SESSION_PREFIX}${basename(entry.path)}`;
    const pairing = found.get(branch);
    if (pairing && (pairing.entry === null || own !== null)) pairing.entry = entry;
    else if (!pairing && (own !== null || isDirectlyIn(worktreesDir, entry.path))) {
      found.set(branch, { branch, head: null, entry, stray: null, elsewhere: null });
    }
  }
  for (const { ref, path } of entries) {
    const pairing = ref?.startsWith(sessionRef) ? found.get(ref.slice('refs/heads/'.length)) : undefined;
    if (pairing && pairing.entry?.path !== path) pairing.elsewhere = path;
  }
  const known = new Set(entries.map((entry) => realFolder(entry.path)));
  for (const path of strays) {
    if (known.has(realFolder(path))) continue;
    const branch = `${SESSION_PREFIX}${basename(path)}`;
    const pairing = found.get(branch) ?? { branch, head: null, entry: null, stray: null, elsewhere: null };
    if (pairing.entry === null) found.set(branch, { ...pairing, stray: path });
  }
  return [...found.values()];
}

/** Lists the folders in a folder; none if it does not exist. Throws if it cannot be read. */
export function listFolders(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [join(folder, entry.name)] : [],
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new SvcError('worktree_unsafe', `${folder} cannot be read: ${(error as Error).message}`, {
      hint: 'make it readable for the user that runs the engine',
      data: { path: folder },
    });
  }
}
