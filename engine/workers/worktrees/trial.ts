import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Checkout, checkoutOf, withRoomFor } from './checkout.ts';
import { type Git, records } from './git.ts';
import { mergedTree } from './integrate.ts';
import { type PromoteRequest, tipsOf } from './promote.ts';
import { aheadBehind, repositoryAt } from './repository.ts';

export type TrialRequest = Pick<PromoteRequest, 'repository' | 'branch' | 'base'>;

/** What promoting by merge would meet now. */
export interface Trial {
  branch: string;
  /** The branch's commit; `promote` takes it to refuse another. */
  head: string;
  base: string;
  strategy: 'merge';
  /** It would go through. */
  promotable: boolean;
  /** The base holds the work; promoting would change nothing. */
  alreadyMerged: boolean;
  /** Paths that the merge would stop at. */
  conflicts: string[];
  /** The base's checkout, which has to follow. */
  checkout: Checkout;
  /** Commits that only the branch has, and that only the base has. */
  ahead: number;
  behind: number;
}

/** Merges aside, where nobody sees it: what git writes for that goes into a folder that is removed again. */
export async function trial(git: Git, request: TrialRequest): Promise<Trial> {
  const { branch, base } = request;
  const { root, commonDir } = await repositoryAt(git, request.repository);
  const { before, beforeTree, tip: head } = await tipsOf(git, root, request);
  const [counts, checkout] = await Promise.all([
    aheadBehind(git, root, before, head),
    checkoutOf(git, root, base),
  ]);
  const about = { branch, head, base, strategy: 'merge', ...counts } as const;
  if (counts.ahead === 0) return { ...about, promotable: true, alreadyMerged: true, conflicts: [], checkout };

  const objects = mkdtempSync(join(tmpdir(), 'svc-trial-'));
  try {
    const env = {
      GIT_OBJECT_DIRECTORY: objects,
      // Quoted, because a colon separates one folder from the next.
      GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(commonDir, 'objects')),
    };
    const { tree, conflicts } = await mergedTree(git, root, { base: before, branch: head, env });
    const added = records(
      (
        await git.run(
          root,
          ['diff-tree', '-r', '-z', '--no-renames', '--name-only', '--diff-filter=A', before, tree],
          { env },
        )
      ).stdout,
    );
    const follows = conflicts.length > 0 ? checkout : await withRoomFor(git, checkout, added);
    return {
      ...about,
      promotable: conflicts.length === 0 && follows.state !== 'dirty',
      alreadyMerged: tree === beforeTree,
      conflicts,
      checkout: follows,
    };
  } finally {
    rmSync(objects, { recursive: true, force: true });
  }
}
