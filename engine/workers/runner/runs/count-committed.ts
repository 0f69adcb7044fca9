import type { Worktrees } from '../worktrees/index.ts';
import type { CommitResult, CommittedOrder } from './runner.ts';

/** Counts what sessions have committed so far: one read of the branches of a repository, and one diff for each moved branch. */
export function createCommittedCounter(
  worktrees: Pick<Worktrees, 'listSessionTips' | 'countChanges'>,
): (orders: readonly CommittedOrder[]) => Promise<Record<string, CommitResult>> {
  let known = new Map<string, { range: string; counts: CommitResult }>();

  async function countInRepository(
    repository: string,
    orders: readonly CommittedOrder[],
  ): Promise<[sessionId: string, found: { range: string; counts: CommitResult }][]> {
    const tips = await worktrees.listSessionTips(
      repository,
      orders.map(({ branch }) => branch),
    );
    const found: [string, { range: string; counts: CommitResult }][] = [];
    for (const { sessionId, branch, baseCommit } of orders) {
      const head = tips.get(branch);
      if (head === undefined) continue;
      const range = `${baseCommit}..${head}`;
      const before = known.get(sessionId);
      const counts =
        before?.range === range
          ? before.counts
          : await worktrees.countChanges({ repository, from: baseCommit, to: head });
      found.push([sessionId, { range, counts }]);
    }
    return found;
  }

  return async (orders) => {
    const byRepository = Map.groupBy(orders, ({ repository }) => repository);
    const found = await Promise.all(
      // An error in one repository must not hide the others.
      [...byRepository].map(([repository, all]) => countInRepository(repository, all).catch(() => [])),
    );
    known = new Map(found.flat());
    return Object.fromEntries([...known].map(([sessionId, { counts }]) => [sessionId, counts]));
  };
}
