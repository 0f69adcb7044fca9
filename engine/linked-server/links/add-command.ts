import type { Transaction } from 'kysely';
import type { DecisionChannel } from '../../core/link-protocol/channels.ts';
import { COMMAND_LIFE_MS } from '../../core/link-protocol/messages.ts';
import type { ChangeLog } from '../change-log.ts';
import type { CommandRow, LinkedWorkspace, Tables } from '../database/tables.ts';
import { requireRequester } from '../requesters.ts';
import { makeServerId } from '../secrets.ts';

/** How long commands are kept after they ended. */
const KEPT_MS = 30 * 86_400_000;

export type CommandFacts = Pick<CommandRow, 'verb' | 'decision_id' | 'hash' | 'person' | 'code' | 'about'> & {
  channel: DecisionChannel | null;
};

/** The person who asked for a command, for the log of the account. */
export interface CommandReason {
  /** See `CommandQueue.give`. */
  within: ((change: Transaction<Tables>) => Promise<void>) | undefined;
  by: string;
  what: string;
  detail: string;
}

/** Adds a command within a transaction, unless the same one is pending. */
export async function addCommand(
  { change: trx, changes, now }: { change: Transaction<Tables>; changes: ChangeLog; now: number },
  { id: workspace, account_id: account }: Pick<LinkedWorkspace, 'id' | 'account_id'>,
  facts: CommandFacts,
  asked: CommandReason | null,
): Promise<{ id: string; isNew: boolean }> {
  await asked?.within?.(trx);
  // The row of the workspace is locked until the commit, so numbers are assigned in commit order.
  const { command_seq: seq } = await trx
    .updateTable('workspaces')
    .set(({ eb }) => ({ command_seq: eb('command_seq', '+', 1) }))
    .where('id', '=', workspace)
    .returning('command_seq')
    .executeTakeFirstOrThrow();
  const { person, channel } = facts;
  if (person !== null && channel !== null) await requireRequester(trx, { account, person, channel });
  if (asked !== null) {
    const { by: actor, what, detail } = asked;
    await changes.record(trx, { account, actor, what, detail });
  }
  // A refresh that was given out may be in progress, with the earlier state.
  const isRepeatable = facts.verb === 'refresh';
  const same = isRepeatable
    ? undefined
    : await trx
        .selectFrom('commands')
        .select('id')
        .where('workspace_id', '=', workspace)
        .where('outcome', 'is', null)
        .where('expires_at', '>', now)
        .where('verb', '=', facts.verb)
        .where('decision_id', facts.decision_id === null ? 'is' : '=', facts.decision_id)
        .where('hash', facts.hash === null ? 'is' : '=', facts.hash)
        .where('person', facts.person === null ? 'is' : '=', facts.person)
        .where('channel', facts.channel === null ? 'is' : '=', facts.channel)
        .where('code', facts.code === null ? 'is' : '=', facts.code)
        .executeTakeFirst();
  if (same !== undefined) return { id: same.id, isNew: false };
  await trx
    .deleteFrom('commands')
    .where('workspace_id', '=', workspace)
    .where('created_at', '<', now - KEPT_MS)
    .execute();
  const made = makeServerId('k');
  await trx
    .insertInto('commands')
    .values({
      id: made,
      workspace_id: workspace,
      seq,
      created_at: now,
      expires_at: now + COMMAND_LIFE_MS,
      outcome: null,
      ended_at: null,
      ...facts,
    })
    .execute();
  return { id: made, isNew: true };
}
