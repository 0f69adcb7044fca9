import type { Git } from '../git/git.ts';
import {
  type PrivateGit,
  type PrivateGitRecord,
  readBranchFromFiles,
  writePrivateGit,
} from '../git/private-git.ts';
import { publishTip } from '../git/publish-tip.ts';
import { gitIn, takeObjects } from './take-objects.ts';

/**
 * Moves the branch in the repository to its tip inside the sandbox. Returns the ref that holds the tip elsewhere,
 * if the branch could not move.
 */
export async function takeBranch(
  plain: Git,
  store: PrivateGit,
  record: PrivateGitRecord,
  tip: string,
  timeoutMs: number,
): Promise<string | null> {
  const { common, branch, base } = record;
  const now = readBranchFromFiles(common, branch);
  const known = [...new Set([base, ...(now === null ? [] : [now])])];
  await takeObjects(plain, store, record, { wanted: [tip], known, timeoutMs });
  const ref = await publishTip(gitIn(plain, record), common, {
    branch,
    base,
    tip,
    now,
    known: record.known,
    asideName: 'inside',
    reason: 'taken over from its sandbox',
  });
  if (ref === null) writePrivateGit(store, { ...record, known: tip });
  return ref;
}
