import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { ADDONS } from '../../core/link-protocol/capabilities.ts';
import type { ChangeLog } from '../change-log.ts';
import type { Account, Tables } from '../database/tables.ts';
import { changeInTurn } from '../database/take-turn.ts';
import type { StopWorkspaces } from '../links/stop-workspaces.ts';
import { makeServerId } from '../secrets.ts';
import { checkName, takenError } from './names.ts';

/** Accounts of this server. */
export interface AccountStore {
  /** Throws `conflict` for a name that is taken, `fields_invalid`. */
  addAccount(name: string, actor: string): Promise<Account>;
  /** Throws `not_found`. */
  findAccount(name: string): Promise<Account>;
  findAccountById(id: string): Promise<Account | null>;
  /** The account of the last operator cannot be removed: throws `conflict`. */
  removeAccount(name: string, actor: string): Promise<void>;
}

/** Adds an account with the plan `free`, within an exclusive transaction. Throws as `addAccount`. */
export async function insertAccount(
  change: Transaction<Tables>,
  { name, actor, clock, changes }: { name: string; actor: string; clock: Clock; changes: ChangeLog },
): Promise<Account> {
  const account = {
    id: makeServerId('a'),
    name: checkName(name, "an account's name"),
    plan: 'free',
    created_at: clock.now(),
  };
  const { numInsertedOrUpdatedRows } = await change
    .insertInto('accounts')
    .values(account)
    .onConflict((same) => same.column('name').doNothing())
    .executeTakeFirst();
  if (Number(numInsertedOrUpdatedRows) === 0) throw takenError(account.name);
  await changes.record(change, { account: account.id, actor, what: 'account added', detail: account.name });
  return account;
}

/** Gives everything to an account, within an exclusive transaction: it belongs to the person who hosts the server. */
export async function giveEverything(change: Transaction<Tables>, account: string): Promise<void> {
  await change.updateTable('accounts').set({ plan: 'team' }).where('id', '=', account).execute();
  await change
    .insertInto('addons')
    .values(ADDONS.map((addon) => ({ account_id: account, addon })))
    .onConflict((same) => same.doNothing())
    .execute();
}

export function createAccounts({
  db,
  clock,
  changes,
  stopWorkspaces,
  eraseDeleted,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
  stopWorkspaces: StopWorkspaces;
  eraseDeleted(): Promise<void>;
}): AccountStore {
  const findAccount: AccountStore['findAccount'] = async (name) => {
    const account = await db
      .selectFrom('accounts')
      .selectAll()
      .where('name', '=', name.normalize('NFC').trim())
      .executeTakeFirst();
    if (account === undefined)
      throw new SvcError('not_found', `no account ${JSON.stringify(name)}`, {
        hint: 'svc server account list lists them',
      });
    return account;
  };

  return {
    addAccount: (name, actor) =>
      changeInTurn(db, (change) => insertAccount(change, { name, actor, clock, changes })),
    async findAccountById(id) {
      return (await db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;
    },
    findAccount,
    async removeAccount(name, actor) {
      const account = await findAccount(name);
      const finish = await changeInTurn(db, async (change) => {
        const operator = await change
          .selectFrom('people')
          .select('id')
          .where('account_id', '!=', account.id)
          .where('is_operator', '=', 1)
          .executeTakeFirst();
        if (operator === undefined)
          throw new SvcError('conflict', 'the account of the last operator cannot be removed', {
            hint: 'make an operator in another account first',
          });
        const ending = await stopWorkspaces(change, account.id, 'all');
        await change.deleteFrom('accounts').where('id', '=', account.id).execute();
        await changes.record(change, { account: null, actor, what: 'account removed', detail: account.name });
        return ending;
      });
      finish();
      await eraseDeleted();
    },
  };
}
