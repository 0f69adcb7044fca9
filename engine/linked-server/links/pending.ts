import type { Kysely } from 'kysely';
import type { DecisionsRequest, PendingDecision } from '../../core/link-protocol/messages.ts';
import {
  countBehind,
  type ListOrder,
  type ListPage,
  type PageWish,
  readListPage,
} from '../database/list-page.ts';
import type { LinkedWorkspace, Tables } from '../database/tables.ts';
import type { DecisionFollower } from '../decision-follower.ts';

/** A pending decision, with its workspace. */
export interface WaitingDecision extends PendingDecision {
  workspace: { id: string; name: string; channels: readonly string[] };
}

/** A page of decisions, and how many more are pending, in this list and in workspaces that do not report all. */
export interface WaitingPage extends Omit<ListPage<WaitingDecision>, 'rows'> {
  decisions: WaitingDecision[];
  more: number;
}

/** The pending decisions of workspaces, as last reported. */
export interface PendingDecisions {
  /** Replaces everything that the workspace has reported before, with its sessions. */
  replace(workspace: LinkedWorkspace, told: DecisionsRequest): Promise<void>;
  /** Lists those of an account, the oldest first. */
  list(account: string, wish?: PageWish): Promise<WaitingPage>;
  /** Finds a decision of an account; null if it is no longer pending. */
  find(account: string, workspace: string, decision: string): Promise<WaitingDecision | null>;
}

const OLDEST_FIRST: ListOrder = {
  columns: {
    'pending_decisions.since': 'integer',
    'pending_decisions.workspace_id': 'text',
    'pending_decisions.decision_id': 'text',
  },
  direction: 'asc',
};

interface Row {
  body: string;
  workspace_id: string;
  name: string;
  channels: string;
}

const readWaiting = ({ body, workspace_id, name, channels }: Row): WaitingDecision => ({
  ...(JSON.parse(body) as PendingDecision),
  workspace: { id: workspace_id, name, channels: channels === '' ? [] : channels.split(',') },
});

export function createPendingDecisions({
  db,
  follower,
}: {
  db: Kysely<Tables>;
  follower: DecisionFollower;
}): PendingDecisions {
  const selectPending = (account: string) =>
    db
      .selectFrom('pending_decisions')
      .innerJoin('workspaces', 'workspaces.id', 'pending_decisions.workspace_id')
      .select(['body', 'workspace_id', 'decision_id', 'since', 'name', 'channels'])
      .where('pending_decisions.account_id', '=', account);

  return {
    async replace({ id, account_id, channels: before }, { decisions, channels, more, sessions }) {
      const after = channels.join(',');
      await db.transaction().execute(async (trx) => {
        await trx
          .updateTable('workspaces')
          .set({ channels: after, more_decisions: more })
          .where('id', '=', id)
          .execute();
        await trx.deleteFrom('pending_decisions').where('workspace_id', '=', id).execute();
        if (decisions.length > 0)
          await trx
            .insertInto('pending_decisions')
            .values(
              decisions.map((each, position) => ({
                account_id,
                workspace_id: id,
                decision_id: each.decision_id,
                position,
                since: Date.parse(each.since),
                hash: each.hash,
                approval: each.approval,
                body: JSON.stringify(each),
              })),
            )
            .execute();
        const body = JSON.stringify(sessions);
        await trx
          .insertInto('workspace_sessions')
          .values({ workspace_id: id, account_id, body })
          .onConflict((same) => same.column('workspace_id').doUpdateSet({ body }))
          .execute();
        await follower.followDecisions(trx, id, after !== before);
      });
      follower.wake();
    },
    async list(account, wish = {}) {
      const query = selectPending(account);
      const { rows, previous, next } = await readListPage(query, OLDEST_FIRST, wish);
      const behind = await countBehind(query, OLDEST_FIRST, { rows, previous, next });
      const { more } = await db
        .selectFrom('workspaces')
        .select(({ fn }) => fn.sum('more_decisions').as('more'))
        .where('account_id', '=', account)
        .where('revoked_at', 'is', null)
        .executeTakeFirstOrThrow();
      return { decisions: rows.map(readWaiting), more: behind + Number(more ?? 0), previous, next };
    },
    async find(account, workspace, decision) {
      const row = await selectPending(account)
        .where('workspace_id', '=', workspace)
        .where('decision_id', '=', decision)
        .executeTakeFirst();
      return row === undefined ? null : readWaiting(row);
    },
  };
}
