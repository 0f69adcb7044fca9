import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { CHANNELS } from '../../core/link-protocol/channels.ts';
import type { ChangeLog } from '../change-log.ts';
import type { PersonRole, PersonRow, Tables } from '../database/tables.ts';
import { changeInTurn } from '../database/take-turn.ts';
import type { DecisionFollower } from '../decision-follower.ts';
import type { StopWorkspaces } from '../links/stop-workspaces.ts';
import type { AccountPlans } from '../plans/plans.ts';
import { withdrawRequests } from '../requesters.ts';
import { type AccountStore, createAccounts } from './accounts.ts';
import { createPeopleAdder, type PeopleAdder } from './add-people.ts';
import { createPeopleFinder, type PeopleFinder } from './find-people.ts';
import { createInvitations, type InvitationStore } from './invitations.ts';
import type { PasswordStore } from './passwords.ts';
import { createPeopleLists, type PeopleLists } from './people-lists.ts';
import { closePrivateChats } from './private-chats.ts';
import { createSignIns, requirePassword, type SignIns } from './sign-ins.ts';

export type { SignedIn } from './sign-ins.ts';

/** The channels that a person uses in their own name. */
const PERSONAL = CHANNELS.filter((channel) => channel !== 'automation');

/** Accounts, the people in them, and their sign-ins. */
export interface PeopleStore
  extends PeopleLists,
    PeopleFinder,
    PeopleAdder,
    AccountStore,
    InvitationStore,
    SignIns {
  /** The last admin of an account and the last operator cannot be removed: throws `conflict`. */
  remove(person: PersonRow, actor: string): Promise<void>;
  setRole(person: PersonRow, role: PersonRole, actor: string): Promise<void>;
  /** Ends all sign-ins. Throws `conflict` if the person's password has changed since it was checked, `fields_invalid`. */
  setPassword(person: PersonRow, password: string): Promise<PersonRow>;
}

/** Removing or demoting is refused if no one could undo it: based on the current state, not an earlier one. */
async function checkSomebodyStays(
  change: Transaction<Tables>,
  person: string,
  what: 'removed' | 'demoted',
): Promise<void> {
  const { id, account_id, role, is_operator } = await change
    .selectFrom('people')
    .selectAll()
    .where('id', '=', person)
    .executeTakeFirstOrThrow();
  const others = change.selectFrom('people').select('id').where('id', '!=', id);
  if (
    what === 'removed' &&
    is_operator === 1 &&
    !(await others.where('is_operator', '=', 1).executeTakeFirst())
  )
    throw new SvcError('conflict', 'the last operator cannot be removed', {
      hint: 'make another operator first',
    });
  const admins = others.where('account_id', '=', account_id).where('role', '=', 'admin');
  if (role === 'admin' && !(await admins.executeTakeFirst()))
    throw new SvcError('conflict', 'the last admin of an account must stay', {
      hint: 'make another admin first, or remove the account',
    });
}

export function createPeople({
  db,
  clock,
  changes,
  passwords,
  plans,
  follower,
  stopWorkspaces,
  eraseDeleted,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
  passwords: PasswordStore;
  plans: Pick<AccountPlans, 'requireRoom'>;
  follower: Pick<DecisionFollower, 'followDecisions'>;
  stopWorkspaces: StopWorkspaces;
  eraseDeleted(): Promise<void>;
}): PeopleStore {
  return {
    ...createPeopleLists(db),
    ...createPeopleFinder(db),
    ...createPeopleAdder({ db, clock, changes, passwords, plans }),
    ...createAccounts({ db, clock, changes, stopWorkspaces, eraseDeleted }),
    ...createInvitations({ db, clock, changes, passwords }),
    ...createSignIns({ db, clock, changes }),
    async remove(person, actor) {
      const finish = await changeInTurn(db, async (change) => {
        await checkSomebodyStays(change, person.id, 'removed');
        await closePrivateChats(change, person);
        await change.deleteFrom('people').where('id', '=', person.id).execute();
        const requester = { account: person.account_id, person: person.name, channels: PERSONAL };
        await withdrawRequests(change, requester, clock.now(), follower.followDecisions);
        await changes.record(change, {
          account: person.account_id,
          actor,
          what: 'person removed',
          detail: person.name,
        });
        return stopWorkspaces(change, person.account_id, 'logged out');
      });
      finish();
      await eraseDeleted();
    },
    async setRole(person, role, actor) {
      await changeInTurn(db, async (change) => {
        if (role !== 'admin') await checkSomebodyStays(change, person.id, 'demoted');
        await change
          .updateTable('people')
          .set({ role })
          .where('id', '=', person.id)
          .returning('id')
          .executeTakeFirstOrThrow();
        await change.deleteFrom('browser_sessions').where('person_id', '=', person.id).execute();
        await changes.record(change, {
          account: person.account_id,
          actor,
          what: 'role changed',
          detail: `${person.name}: ${role}`,
        });
      });
    },
    async setPassword(person, password) {
      const stored = await passwords.store(password);
      const { account_id: account, name: actor } = person;
      await changes.make({ account, actor, what: 'password changed' }, async (change) => {
        await requirePassword(change, person);
        await change.updateTable('people').set({ password: stored }).where('id', '=', person.id).execute();
        await change.deleteFrom('browser_sessions').where('person_id', '=', person.id).execute();
        // An earlier address for a new password would undo this one.
        await change.deleteFrom('invitations').where('person_id', '=', person.id).execute();
      });
      return { ...person, password: stored };
    },
  };
}
