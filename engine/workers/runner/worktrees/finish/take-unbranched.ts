import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Git } from '../git/git.ts';
import { copyIndex } from '../git/index-flags.ts';
import { type PrivateGit, type PrivateGitRecord, readRefFile } from '../git/private-git.ts';
import { compareAndSetRef, isObjectId, resolveCommit, sessionNameOf } from '../git/refs.ts';
import { readRegularFile } from '../git/regular-file.ts';
import { END_MS, gitIn, listMissing, takeObjects } from './take-objects.ts';

/** Further branches and commits beyond this number are ignored. */
const MOST_REFS = 1000;

/** Files in the worktree's own git folder that may name commits which no branch holds. */
const NAMES_COMMITS = [
  ...['HEAD', 'ORIG_HEAD', 'MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'REBASE_HEAD'],
  ...['orig-head', 'onto', 'autostash', 'stopped-sha'].map((name) => join('rebase-merge', name)),
  join('rebase-apply', 'orig-head'),
];

/** Lists commits named by the worktree's own folder and by other private branches, with the names to keep them under. */
function listNamedCommits(
  store: PrivateGit,
  { common, branch, worktree }: PrivateGitRecord,
): Map<string, string | null> {
  const own = join(common, 'worktrees', basename(worktree));
  const found = new Map<string, string | null>();
  for (const name of NAMES_COMMITS)
    for (const id of (readRegularFile(join(own, name)) ?? '').slice(0, 64 * 1024).split('\n'))
      if (isObjectId(id)) found.set(id, null);
  for (const name of listFileNames(store.refs).slice(0, MOST_REFS)) {
    const id = name === basename(branch) ? null : readRefFile(join(store.refs, name));
    if (id !== null) found.set(id, name);
  }
  return found;
}

/** Takes over commits that only other names hold. Returns the refs that hold them now. */
export async function takeOtherCommits(
  plain: Git,
  store: PrivateGit,
  record: PrivateGitRecord,
): Promise<string[]> {
  const named = listNamedCommits(store, record);
  const lacking = await listMissing(plain, record, [...named.keys()]);
  await takeObjects(plain, store, record, { wanted: lacking, known: [record.known], timeoutMs: END_MS });
  const git = gitIn(plain, record);
  const saved: string[] = [];
  for (const id of lacking) {
    const name = named.get(id);
    if (name == null || (await resolveCommit(git, record.common, id)) !== id) continue;
    const ref = `refs/svc/${sessionNameOf(record.branch)}/branch-${name.replaceAll(/[^A-Za-z0-9-]/g, '-')}-${id.slice(0, 12)}`;
    if (await compareAndSetRef(git, record.common, ref, id, null, 'kept')) saved.push(ref);
  }
  return saved;
}

/** Takes over staged but uncommitted changes: a person who continues with the worktree outside needs them. */
export async function takeIndex(
  plain: Git,
  store: PrivateGit,
  record: PrivateGitRecord,
  env: Record<string, string>,
) {
  const index = join(record.common, 'worktrees', basename(record.worktree), 'index');
  const copy = join(store.folder, 'index');
  rmSync(copy, { force: true });
  try {
    copyIndex(index, copy);
    const tree = await plain.text(record.worktree, ['write-tree'], {
      env: { ...env, GIT_INDEX_FILE: copy },
    });
    const wanted = await listMissing(plain, record, [tree]);
    await takeObjects(plain, store, record, { wanted, known: [record.known], timeoutMs: END_MS });
  } finally {
    rmSync(copy, { force: true });
  }
}

function listFileNames(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((each) => (each.isFile() ? [each.name] : []));
  } catch {
    return [];
  }
}
