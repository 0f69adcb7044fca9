import { rmdirSync } from 'node:fs';
import { asSvcError, SvcError } from '../../../../core/base/errors.ts';
import type { KeyedQueue } from '../../../../core/base/serial-queue.ts';
import type { Git } from '../git/git.ts';
import { branchRef } from '../git/refs.ts';
import { readContents } from '../inspect/contents.ts';
import type { IgnoreRules, IgnoringPlace } from '../inspect/ignore-rules.ts';
import { keepIgnoredFiles, selectIgnoredWork } from '../inspect/ignored.ts';
import { listSessionWorktrees } from '../inspect/listing.ts';
import type { WorkingFolders } from '../inspect/working-folders.ts';
import {
  describeHiddenWork,
  describeUnsavedWork,
  findMergeStatesFor,
  findReasonsToKeep,
  listCommitsOf,
  type PruneEntry,
  type PrunePlan,
  pairingPath,
} from './prune-plan.ts';
import { removeWorktree, savePrunedCommit } from './remove-worktree.ts';

export interface PruneResult {
  /** `ignored` names in a sentence the removed uncommitted files, or their new location. */
  removed: { branch: string; path: string | null; savedRefs: string[]; ignored: string[] }[];
  /** Planned for removal, but no longer safe. */
  refused: { branch: string; path: string | null; reasons: string[] }[];
  /** Planned for removal, but removed by another process in the meantime. */
  gone: { branch: string; path: string | null }[];
}

export interface PruneSteps {
  /** Runs ahead of each removal; its leftovers are checked like everything else. */
  before?: ((entry: PruneEntry) => Promise<void>) | undefined;
  /** The folder for large ignored files of a worktree; null for none. */
  findKeptFolder?(worktree: string): string | null;
}

/**
 * Checks a worktree again that was found safe a moment ago: a late file keeps it.
 * @param target the base's commit
 * @param start where the session started; null if that is unknown
 * @param keptIn the folder for ignored files that may be work; null for none
 * @returns the ignored files that were removed with it, or their new location, in a sentence
 */
async function checkContents(
  git: Git,
  rules: IgnoreRules,
  place: IgnoringPlace,
  { target, start, keptIn }: { target: string | null; start: string | null; keptIn: string | null },
): Promise<string[]> {
  const files = await readContents(git, place.path, place.gitDir);
  const late = [
    ...describeUnsavedWork(files),
    ...(await describeHiddenWork(git, rules, place, files, target)),
  ];
  if (late.length > 0) throw new SvcError('worktree_unsafe', late.join('; '));
  const hidden =
    start === null ? [] : selectIgnoredWork(await rules.listHiddenFrom(git, place, files, start));
  return keepIgnoredFiles(place.path, { ...files, hidden }, keptIn);
}

/** Executes a plan. Every entry is examined again right before its deletion, after `before`; nothing is forced. */
export async function pruneWorktrees(
  git: Git,
  looks: { folders: WorkingFolders; rules: IgnoreRules },
  queue: KeyedQueue,
  plan: PrunePlan,
  { before, findKeptFolder }: PruneSteps = {},
): Promise<PruneResult> {
  const { repository: root, commonDir, look } = plan;
  const result: PruneResult = { removed: [], refused: [], gone: [] };
  /** Returns the session's current branch and worktree; null once both are gone. */
  const findPairingNow = async (branch: string) => {
    const { pairings, base: target } = await listSessionWorktrees(git, root, { ...look, base: plan.base });
    return { target, pairing: pairings.find((candidate) => candidate.branch === branch) ?? null };
  };
  for (const planned of plan.entries) {
    if (planned.action !== 'remove') continue;
    const { branch, path } = planned;
    const refusePrune = (reasons: string[]): void => void result.refused.push({ branch, path, reasons });
    const remove = async (): Promise<void> => {
      const { target, pairing } = await findPairingNow(branch);
      if (pairing === null) return void result.gone.push({ branch, path });
      if (pairing.head !== planned.head || pairingPath(pairing) !== path)
        return refusePrune(['it has changed since']);
      const standings = await findMergeStatesFor(git, plan, target, [pairing]);
      const reasons = await findReasonsToKeep(git, looks, { ...plan, target, standings }, pairing);
      if (reasons.length > 0) return refusePrune(reasons);

      const savedRefs: string[] = [];
      for (const commit of listCommitsOf(pairing))
        savedRefs.push(await savePrunedCommit(git, root, branch, commit));
      const { entry, stray, head } = pairing;
      const ignored =
        entry === null
          ? null
          : await removeWorktree(git, plan, entry.path, (path, gitDir) =>
              checkContents(
                git,
                looks.rules,
                { path, gitDir, commonDir },
                {
                  target,
                  start: plan.findStart(branch),
                  keptIn: findKeptFolder?.(entry.path) ?? null,
                },
              ),
            );
      if (stray !== null) rmdirSync(stray);
      if (head !== null) await git.run(root, ['update-ref', '--no-deref', '-d', branchRef(branch), head]);
      result.removed.push({ branch, path, savedRefs, ignored: ignored ?? [] });
    };
    try {
      await before?.(planned);
      await queue(commonDir, remove);
    } catch (error) {
      // Another engine may have removed it between our two looks.
      const { pairing } = await findPairingNow(branch).catch(() => ({ pairing: undefined }));
      if (pairing === null) result.gone.push({ branch, path });
      else refusePrune([asSvcError(error).message]);
    }
  }
  return result;
}
