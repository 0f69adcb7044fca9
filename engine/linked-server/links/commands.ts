import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { DecisionChannel } from '../../core/link-protocol/channels.ts';
import type { CommandOutcome } from '../../core/link-protocol/messages.ts';
import type { ChangeLog } from '../change-log.ts';
import type { CommandRow, LinkedWorkspace, Tables } from '../database/tables.ts';
import { addCommand, type CommandFacts, type CommandReason } from './add-command.ts';
import { type CommandFinder, createCommandFinder } from './find-commands.ts';
import { createOutcomeWaits } from './outcome-waits.ts';

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
export interface CommandQueue extends CommandFinder {
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
  /** Records the outcome of a command; the first one is final. False for a command that the workspace did not receive. */
  settle(workspace: LinkedWorkspace, id: string, outcome: CommandOutcome): Promise<boolean>;
  /** Waits until a command has its outcome, or for a time in ms. */
  waitForOutcome(id: string, ms: number): Promise<void>;
}

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
  const outcomes = createOutcomeWaits(db);

  async function giveCommand(
    workspace: Pick<LinkedWorkspace, 'id' | 'account_id'>,
    facts: CommandFacts,
    asked: CommandReason | null,
  ): Promise<CommandRow> {
    const { id, isNew } = await db
      .transaction()
      .execute((change) => addCommand({ change, changes, now: clock.now() }, workspace, facts, asked));
    if (isNew) onGiven(workspace.id);
    return db.selectFrom('commands').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  }

  return {
    ...createCommandFinder(db, clock),
    async give(
      { id, account_id, name },
      { verb, decision, hash, person, channel, code = null, reason },
      within,
    ) {
      const about = `${decision} in ${name}`;
      const facts = { verb, decision_id: decision, hash, person, channel, code, about };
      const command = await giveCommand({ id, account_id }, facts, {
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
        await giveCommand(each, { verb: 'refresh', about: 'the lease', ...nobody }, null);
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
      outcomes.wake(id);
      return true;
    },
    waitForOutcome: outcomes.wait,
  };
}
