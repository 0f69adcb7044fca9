import type { Kysely, Transaction } from 'kysely';
import { type Clock, rfc3339 } from '../../core/base/clock.ts';
import type { DecisionChannel } from '../../core/link-protocol/channels.ts';
import { COMMAND_LIFE_MS, type CommandOutcome, type LinkCommand } from '../../core/link-protocol/messages.ts';
import type { ChangeLog } from '../change-log.ts';
import type { CommandRow, LinkedWorkspace, Tables } from '../database/tables.ts';
import { requireRequester } from '../requesters.ts';
import { makeServerId } from '../secrets.ts';

/** How long commands are kept after they ended. */
const KEPT_MS = 30 * 86_400_000;
/** Maximum number given out at once: workspaces read no answer over 64 KB, and a command may have a thousand bytes. */
const MOST_GIVEN = 60;

/** A command to a workspace. */
export interface CommandRequest {
  verb: 'approve' | 'deny';
  decision: string;
  /** The hash that the requester saw. */
  hash: string;
  person: string;
  channel: DecisionChannel;
  /** A one-time code, which is deleted with the outcome. */
  code?: string | null;
  /** For the log of the account. */
  reason?: string;
}

/** Commands to workspaces and their outcomes. */
export interface CommandQueue {
  /**
   * Sends a command. A repeated request while it is pending is the same command.
   * @param within runs more in the same transaction; its errors undo everything
   */
  give(
    workspace: Pick<LinkedWorkspace, 'id' | 'account_id' | 'name'>,
    wish: CommandRequest,
    within?: (change: Transaction<Tables>) => Promise<void>,
  ): Promise<CommandRow>;
  /** Asks the linked workspaces of an account to fetch their leases again. */
  giveRefresh(account: string): Promise<void>;
  /** Lists commands without an outcome after a given one, in order. */
  listWaiting(workspace: string, after: number): Promise<LinkCommand[]>;
  /** Records the outcome of a command; the first one is final. False for a command that the workspace did not receive. */
  settle(workspace: LinkedWorkspace, id: string, outcome: CommandOutcome): Promise<boolean>;
  /** Returns the newest command about a decision; null for none. */
  findNewest(workspace: string, decision: string): Promise<CommandRow | null>;
  /** Waits until a command has its outcome, or for a time in ms. */
  waitForOutcome(id: string, ms: number): Promise<void>;
}

const toLinkCommand = (row: CommandRow): LinkCommand => ({
  id: row.id,
  seq: row.seq,
  at: rfc3339(row.created_at),
  verb: row.verb,
  decision_id: row.decision_id,
  hash: row.hash,
  person: row.person,
  channel: row.channel,
  code: row.code,
});

export function createCommands({
  db,
  clock,
  changes,
  onGiven,
  onChanged,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
  /** Called after the commit: there is something for the workspace. */
  onGiven(workspace: string): void;
  /** Called after the commit: a command about a decision was requested or answered. */
  onChanged(workspace: string, decision: string): Promise<void>;
}): CommandQueue {
  const waiting = new Map<string, Set<() => void>>();

  async function addCommand(
    { id: workspace, account_id: account }: Pick<LinkedWorkspace, 'id' | 'account_id'>,
    facts: Pick<CommandRow, 'verb' | 'decision_id' | 'hash' | 'person' | 'code' | 'about'> & {
      channel: DecisionChannel | null;
    },
    asked: {
      within: ((change: Transaction<Tables>) => Promise<void>) | undefined;
      by: string;
      what: string;
      detail: string;
    } | null,
  ): Promise<CommandRow> {
    const now = clock.now();
    const { id, isNew } = await db.transaction().execute(async (trx) => {
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
    });
    if (isNew) onGiven(workspace);
    return db.selectFrom('commands').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  }

  return {
    async give(
      { id, account_id, name },
      { verb, decision, hash, person, channel, code = null, reason },
      within,
    ) {
      const about = `${decision} in ${name}`;
      const facts = { verb, decision_id: decision, hash, person, channel, code, about };
      const command = await addCommand({ id, account_id }, facts, {
        within,
        by: person,
        what: `asked to ${verb} by ${channel}`,
        detail: reason === undefined ? about : `${about}: ${reason}`,
      });
      await onChanged(id, decision);
      return command;
    },
    async giveRefresh(account) {
      const linked = await db
        .selectFrom('workspaces')
        .select(['id', 'account_id'])
        .where('account_id', '=', account)
        .where('revoked_at', 'is', null)
        .execute();
      const nobody = { decision_id: null, hash: null, person: null, channel: null, code: null };
      for (const each of linked)
        await addCommand(each, { verb: 'refresh', about: 'the lease', ...nobody }, null);
    },
    async listWaiting(workspace, after) {
      const rows = await db
        .selectFrom('commands')
        .selectAll()
        .where('workspace_id', '=', workspace)
        .where('seq', '>', after)
        .where('outcome', 'is', null)
        .where('expires_at', '>', clock.now())
        .orderBy('seq')
        .limit(MOST_GIVEN)
        .execute();
      return rows.map(toLinkCommand);
    },
    async settle(workspace, id, outcome) {
      const settled = await db.transaction().execute(async (change) => {
        const ended = await change
          .updateTable('commands')
          .set({ outcome: JSON.stringify(outcome), ended_at: clock.now(), code: null })
          .where('id', '=', id)
          .where('workspace_id', '=', workspace.id)
          .where('outcome', 'is', null)
          .returning(['person', 'verb', 'about', 'decision_id'])
          .executeTakeFirst();
        if (ended !== undefined)
          await changes.record(change, {
            account: workspace.account_id,
            actor: workspace.name,
            what: `answered ${ended.verb} of ${ended.person ?? 'the server'}`,
            detail: `${ended.about}: ${outcome.outcome.replaceAll('_', ' ')}`,
          });
        return ended;
      });
      if (settled === undefined) {
        const known = await db
          .selectFrom('commands')
          .select('id')
          .where('id', '=', id)
          .where('workspace_id', '=', workspace.id)
          .executeTakeFirst();
        return known !== undefined;
      }
      if (settled.decision_id !== null) await onChanged(workspace.id, settled.decision_id);
      for (const wake of waiting.get(id) ?? []) wake();
      return true;
    },
    async findNewest(workspace, decision) {
      const row = await db
        .selectFrom('commands')
        .selectAll()
        .where('workspace_id', '=', workspace)
        .where('decision_id', '=', decision)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row ?? null;
    },
    async waitForOutcome(id, ms) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const all = waiting.get(id) ?? new Set();
      waiting.set(id, all.add(resolve));
      const timer = setTimeout(resolve, ms);
      // It may have ended before anyone waited.
      const row = await db.selectFrom('commands').select('outcome').where('id', '=', id).executeTakeFirst();
      if (row?.outcome == null) await promise;
      clearTimeout(timer);
      all.delete(resolve);
      if (all.size === 0) waiting.delete(id);
    },
  };
}
