import { rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SvcError } from '../../../../core/base/errors.ts';
import type { KeyedQueue } from '../../../../core/base/serial-queue.ts';
import { commitTree } from '../git/commit-tree.ts';
import { type Git, withEnvironment } from '../git/git.ts';
import { clearFlags } from '../git/index-flags.ts';
import { branchRef, resolveCommit } from '../git/refs.ts';
import { readRegularFile } from '../git/regular-file.ts';
import { mayExist, type RepositoryOrPath, resolveRepository, samePath } from '../git/repository.ts';
import { gitDirEnvironment, readContents, type WorktreeContents } from '../inspect/contents.ts';
import type { IgnoreRules } from '../inspect/ignore-rules.ts';
import { keepIgnoredFiles, returnIgnoredFiles } from '../inspect/ignored.ts';
import { gitDirOfWorktree } from '../inspect/inspect.ts';
import { listSessionWorktrees, type WorktreePairing } from '../inspect/listing.ts';
import { describeProcessesInside, type WorkingFolders } from '../inspect/working-folders.ts';
import { type ExactPlace, withExactFiles } from './exact-files.ts';
import { findReasonsToKeepStray, joinFirst, listCommitsOf } from './prune-plan.ts';
import { removeWorktree, returnFromAside, savePrunedCommit } from './remove-worktree.ts';

export interface DiscardRequest {
  repository: RepositoryOrPath;
  /** The session's branch. */
  branch: string;
  /** The session's worktree, as recorded; null for none. */
  worktree: string | null;
  /** The folder for ignored files that may be work; null for none. */
  keptIn: string | null;
  /** Records what was saved, before anything is deleted. */
  record(saved: SavedState): Promise<void>;
}

/** The data to restore a discarded branch and worktree. */
export interface SavedState {
  /** The branch's commit; null if it was gone. */
  head: string | null;
  /** The checked-out commit, if it was not the branch. */
  detached: string | null;
  /** The commit of the working files, if some were in no commit; its second parent has the index. */
  files: string | null;
  /** The worktree's folder; null if there was none. */
  path: string | null;
}

export interface DiscardResult {
  /** Refs that hold the removed commits. */
  savedRefs: string[];
  /** The ignored files that were removed with it, or their new location, in sentences. */
  ignored: string[];
  /** True if there was neither a branch nor a worktree any more. */
  isGone: boolean;
}

/**
 * Commits the files of a worktree that are in no commit, byte for byte, on top of HEAD. The second parent is the
 * index; further ones are the heads of an unfinished merge. Null if there are none.
 */
async function saveFiles(
  git: Git,
  place: ExactPlace,
  { changed, untracked, flagged }: WorktreeContents,
  { head, message }: { head: string; message: string },
): Promise<string | null> {
  const { path, gitDir } = place;
  if (changed.length === 0 && untracked.length === 0) return null;
  const tree = await withExactFiles(git, place, head.length, async (exact) => {
    await clearFlags(exact, path, flagged, {});
    await exact.run(path, ['add', '--all', '--', '.']);
    return exact.text(path, ['write-tree']);
  });
  const own = withEnvironment(git, gitDirEnvironment(path, gitDir));
  // An index with conflicts is not a tree.
  const staged = await own.run(path, ['write-tree'], { allowFail: true });
  const indexTree = staged.code === 0 ? staged.stdout.trim() : `${head}^{tree}`;
  const index = await commitTree(own, path, {
    tree: indexTree,
    parents: [head],
    message: `${message}: index`,
  });
  const merged = (readRegularFile(join(gitDir, 'MERGE_HEAD')) ?? '').split('\n').filter(Boolean);
  const others = await Promise.all(merged.map((each) => resolveCommit(own, path, each)));
  const parents = [head, index, ...others.filter((each) => each !== null)];
  return commitTree(own, path, { tree, parents, message });
}

const discardRefusedError = (branch: string, reasons: readonly string[]): SvcError =>
  new SvcError('worktree_unsafe', `${branch} was not discarded: ${reasons.join('; ')}`, {
    hint: 'nothing was removed',
    data: { branch, reasons },
  });

/** Lists obstacles to discarding a branch and its worktree. Empty means none at this moment. */
async function findReasonsAgainst(
  git: Git,
  folders: WorkingFolders,
  commonDir: string,
  { entry, stray, elsewhere }: WorktreePairing,
  worktree: string | null,
): Promise<string[]> {
  const reasons: string[] = [];
  if (elsewhere !== null) reasons.push(`it is checked out at ${elsewhere}`);
  if (stray !== null) reasons.push(...findReasonsToKeepStray(stray));
  if (entry === null) return reasons;
  if (entry.locked !== null)
    reasons.push(entry.locked === '' ? 'its worktree is locked' : `its worktree is locked: ${entry.locked}`);
  if (worktree === null || !samePath(entry.path, worktree))
    reasons.push(`it is checked out at ${entry.path}, which is not its session's`);
  if (reasons.length > 0) return reasons;
  returnFromAside(entry.path);
  if (!mayExist(entry.path)) return reasons;
  const gitDir = await gitDirOfWorktree(git, entry.path, commonDir);
  reasons.push(...(await describeProcessesInside(entry.path, folders)));
  reasons.push(...describeNested(await readContents(git, entry.path, gitDir)));
  return reasons;
}

const describeNested = ({ nested, isWhole }: WorktreeContents): string[] => [
  ...(nested.length > 0 ? [`it holds the git repository ${joinFirst(nested)}`] : []),
  ...(isWhole ? [] : ['git cannot read all of its files']),
];

/**
 * Removes a session's branch and worktree, regardless of their contents, once everything is saved under refs. Throws
 * `worktree_unsafe` if that fails: then nothing was removed.
 */
export async function discardWorktree(
  git: Git,
  { folders, rules }: { folders: WorkingFolders; rules: IgnoreRules },
  queue: KeyedQueue,
  request: DiscardRequest,
): Promise<DiscardResult> {
  const { branch, worktree, keptIn, record } = request;
  const { root, commonDir } = await resolveRepository(git, request.repository);
  return queue(commonDir, async () => {
    const { pairings } = await listSessionWorktrees(git, root, {
      base: null,
      ...(worktree === null ? {} : { worktreesDir: dirname(worktree) }),
    });
    const pairing = pairings.find((each) => each.branch === branch);
    if (pairing === undefined) return { savedRefs: [], ignored: [], isGone: true };
    const reasons = await findReasonsAgainst(git, folders, commonDir, pairing, worktree);
    if (reasons.length > 0) throw discardRefusedError(branch, reasons);

    const { entry, stray, head } = pairing;
    const savedRefs: string[] = [];
    for (const commit of listCommitsOf(pairing))
      savedRefs.push(await savePrunedCommit(git, root, branch, commit));
    const state: SavedState = {
      head,
      detached: entry === null || entry.ref === branchRef(branch) ? null : entry.head,
      files: null,
      path: entry?.path ?? null,
    };

    async function saveAside(aside: string, gitDir: string): Promise<string[]> {
      const files = await readContents(git, aside, gitDir);
      const own = withEnvironment(git, gitDirEnvironment(aside, gitDir));
      const hasMoved =
        (await resolveCommit(own, aside, 'HEAD')) !== entry?.head ||
        (await resolveCommit(own, aside, branchRef(branch))) !== head;
      const late = [
        ...(hasMoved ? ['it has changed in the meantime'] : []),
        ...describeNested(files),
        ...(await describeProcessesInside(aside, folders)),
      ];
      if (late.length > 0) throw discardRefusedError(branch, late);
      const checkedOut = entry?.head ?? head;
      const place = { path: aside, gitDir, commonDir };
      const message = `Files of ${branch} that were in no commit`;
      if (checkedOut !== null)
        state.files = await saveFiles(git, place, files, { head: checkedOut, message });
      if (state.files !== null) savedRefs.push(await savePrunedCommit(git, root, branch, state.files));
      const hidden = await rules.listSelfHidden(git, place, files);
      await record(state);
      try {
        return keepIgnoredFiles(aside, { ...files, hidden }, keptIn, 0);
      } catch (error) {
        if (keptIn !== null) returnIgnoredFiles(aside, keptIn);
        throw error;
      }
    }

    if (entry === null || !mayExist(entry.path)) await record(state);
    const ignored =
      entry === null ? [] : await removeWorktree(git, { repository: root, commonDir }, entry.path, saveAside);
    if (stray !== null) rmdirSync(stray);
    if (head !== null) await git.run(root, ['update-ref', '--no-deref', '-d', branchRef(branch), head]);
    return { savedRefs, ignored: ignored ?? [], isGone: false };
  });
}
