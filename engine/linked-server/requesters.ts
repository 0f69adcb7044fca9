import type { Transaction } from 'kysely';
import { SvcError } from '../core/base/errors.ts';
import type { DecisionChannel } from '../core/link-protocol/channels.ts';
import type { Tables } from './database/tables.ts';
import type { DecisionFollower } from './decision-follower.ts';

/** The requester of a command, and the channel: a person of the account, or the tool of a catch URL. */
export interface Requester {
  account: string;
  person: string;
  channel: DecisionChannel;
}

/** Throws `actor_denied` if the requester is no longer allowed: they may have been removed since the request was accepted. */
export async function requireRequester(
  change: Transaction<Tables>,
  { account, person, channel }: Requester,
): Promise<void> {
  const people = change
    .selectFrom('people')
    .select('people.id')
    .where('people.account_id', '=', account)
    .where('people.name', '=', person);
  const catchUrls = change
    .selectFrom('targets')
    .select('targets.id')
    .where('account_id', '=', account)
    .where('slot', '=', person)
    .where('is_on', '=', 1);
  const found = await {
    page: people,
    telegram: people.innerJoin('chat_users', 'person_id', 'people.id').where('kind', '=', 'telegram'),
    slack: people.innerJoin('chat_users', 'person_id', 'people.id').where('kind', '=', 'slack'),
    automation: catchUrls,
  }[channel].executeTakeFirst();
  if (found === undefined)
    throw new SvcError('actor_denied', `${person} can no longer decide here by ${channel}`);
}

/**
 * Withdraws unanswered commands of a requester, in the transaction that removes their right to ask. A workspace may
 * still run commands that it has received. Wake the follower after the commit.
 */
export async function withdrawRequests(
  change: Transaction<Tables>,
  { account, person, channels }: Omit<Requester, 'channel'> & { channels: readonly DecisionChannel[] },
  now: number,
  followDecisions: DecisionFollower['followDecisions'],
): Promise<void> {
  // A requester locks the row of the workspace, so a concurrent request ends before this continues.
  await change
    .updateTable('workspaces')
    .set(({ ref }) => ({ command_seq: ref('command_seq') }))
    .where('account_id', '=', account)
    .execute();
  const ofAccount = change.selectFrom('workspaces').select('id').where('account_id', '=', account);
  const withdrawn = await change
    .updateTable('commands')
    .set({ expires_at: now })
    .where('workspace_id', 'in', ofAccount)
    .where('person', '=', person)
    .where('channel', 'in', channels)
    .where('outcome', 'is', null)
    .where('expires_at', '>', now)
    .returning('workspace_id')
    .execute();
  // Messages about a pending command get their buttons back.
  for (const workspace of new Set(withdrawn.map((each) => each.workspace_id)))
    await followDecisions(change, workspace, true);
}
