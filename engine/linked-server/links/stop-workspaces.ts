import type { Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import type { DecisionFollower } from '../decision-follower.ts';
import type { LinkPolls } from './polls.ts';

/**
 * Stops workspaces whose token becomes invalid, in the transaction that revokes it: their pending decisions can no
 * longer be decided from here. Resolves with a function to call after the commit, which ends their polls.
 * @param which workspaces of the account: those of a logged out machine, or all of them, before they are deleted
 */
export type StopWorkspaces = (
  change: Transaction<Tables>,
  account: string,
  which: 'logged out' | 'all',
) => Promise<() => void>;

export function createStopWorkspaces({
  follower,
  polls,
}: {
  follower: DecisionFollower;
  polls: Pick<LinkPolls, 'revoke'>;
}): StopWorkspaces {
  return async (change, account, which) => {
    let found = change
      .selectFrom('workspaces')
      .leftJoin('machines', 'machines.id', 'workspaces.machine_id')
      .select('workspaces.id')
      .where('workspaces.account_id', '=', account)
      .where('revoked_at', 'is', null);
    if (which === 'logged out') found = found.where('machines.id', 'is', null);
    const ids = (await found.execute()).map(({ id }) => id);
    for (const id of ids) {
      await change.deleteFrom('pending_decisions').where('workspace_id', '=', id).execute();
      await follower.followDecisions(change, id, true);
    }
    return () => {
      follower.wake();
      for (const id of ids) polls.revoke(id);
    };
  };
}
