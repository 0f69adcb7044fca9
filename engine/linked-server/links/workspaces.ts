import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { toPrintable } from '../../core/base/text.ts';
import type { ChangeLog } from '../change-log.ts';
import { retryDeadlocks } from '../database/errors.ts';
import type { LinkedWorkspace, MachineRow, PersonRow, Tables } from '../database/tables.ts';
import { takeTurn } from '../database/take-turn.ts';
import type { TokenChanges } from '../database/token-changes.ts';
import type { DecisionFollower } from '../decision-follower.ts';
import { readWorkspaces } from '../deliveries/chosen-workspaces.ts';
import type { AccountPlans } from '../plans/plans.ts';
import { hashToken, makeServerId, makeToken } from '../secrets.ts';
import { cleanToldWords } from '../told-words.ts';
import { createSightings } from './sightings.ts';
import { createWorkspaceLists, type WorkspaceLists } from './workspace-lists.ts';

/** The sender of a report: these fields of a workspace change only with the validity of its token. */
export type WorkspaceReporter = Pick<LinkedWorkspace, 'id' | 'account_id' | 'name'>;

/** Workspaces linked from machines of an account, each with its own token. */
export interface WorkspaceLinks extends WorkspaceLists {
  /** Finds a workspace of the account; null for any other. */
  find(account: string, id: string): Promise<LinkedWorkspace | null>;
  /** Finds a linked workspace of any account; null for any other. */
  findLinked(id: string): Promise<LinkedWorkspace | null>;
  /**
   * Links a workspace, or relinks it under its former id: older tokens become invalid. Throws `quota_exceeded` if the
   * plan has no room for another one.
   */
  link(
    given: { key: string; name: string; version: string },
    by: { machine: MachineRow; person: PersonRow },
  ): Promise<{ workspace: LinkedWorkspace; token: string }>;
  /** Finds the owner of a token. Throws `token_invalid` for an unknown one, `revoked`. */
  findByToken(token: string): Promise<LinkedWorkspace>;
  /** Does the same, mostly from a cache. */
  findTeller(token: string): Promise<WorkspaceReporter>;
  /** Creates a token that replaces the current one, which is valid until the new one was used. */
  rotateToken(workspace: LinkedWorkspace): Promise<string>;
  rename(workspace: WorkspaceReporter, name: string): Promise<void>;
  /** False if the account has no such workspace, or it is revoked. */
  revoke(account: string, id: string, actor: string): Promise<boolean>;
  /** Deletes everything about it, including its token. False if the account has no such workspace. */
  remove(account: string, id: string, actor: string): Promise<boolean>;
  /** Writes the last-seen times. */
  close(): Promise<void>;
}

/** Size of the cache. */
const MOST_TELLERS = 10_000;

const cleanName = (name: string): string => cleanToldWords(name, 200, 'unnamed');

export function createWorkspaces({
  db,
  clock,
  log,
  changes,
  plans,
  follower,
  tokenChanges,
  eraseDeleted,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  log: Log;
  changes: ChangeLog;
  plans: Pick<AccountPlans, 'requireRoom'>;
  follower: DecisionFollower;
  tokenChanges: TokenChanges | null;
  eraseDeleted(): Promise<void>;
}): WorkspaceLinks {
  const sightings = createSightings({ db, clock, log });
  /** Built once, since every request of a workspace runs it; both of its values are the hash. */
  const byToken = db
    .selectFrom('workspaces')
    .leftJoin('machines', 'machines.id', 'workspaces.machine_id')
    .selectAll('workspaces')
    .select('machines.id as logged_in')
    .where((where) => where.or([where('workspaces.token_hash', '=', ''), where('next_token_hash', '=', '')]))
    .compile();

  /** Recent senders, by the hashes of their tokens, as of a number of changes. */
  const tellers = new Map<string, WorkspaceReporter & { last_seen_at: number | null }>();
  let tellersAsOf = 0;

  async function findByHash(hash: string): Promise<LinkedWorkspace> {
    const {
      rows: [found],
    } = await db.executeQuery<LinkedWorkspace & { logged_in: string | null }>({
      ...byToken,
      parameters: [hash, hash],
    });
    if (found === undefined)
      throw new SvcError('token_invalid', 'the token does not belong to a workspace here');
    const { logged_in, ...workspace } = found;
    if (workspace.revoked_at !== null) throw new SvcError('revoked', 'this workspace was unlinked');
    if (logged_in === null) throw new SvcError('revoked', 'the machine of this workspace was logged out');
    if (workspace.next_token_hash === hash)
      await db
        .updateTable('workspaces')
        .set({ token_hash: hash, next_token_hash: null })
        .where('id', '=', workspace.id)
        .where('next_token_hash', '=', hash)
        .execute();
    sightings.note(workspace);
    return workspace;
  }

  return {
    ...createWorkspaceLists(db),
    async find(account, id) {
      const found = await db
        .selectFrom('workspaces')
        .selectAll()
        .where('id', '=', id)
        .where('account_id', '=', account)
        .executeTakeFirst();
      return found ?? null;
    },
    async findLinked(id) {
      const found = await db
        .selectFrom('workspaces')
        .selectAll()
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirst();
      return found ?? null;
    },
    async link({ key, name, version }, { machine, person }) {
      const { token, hash } = makeToken('svcw_');
      const now = clock.now();
      const facts = {
        machine_id: machine.id,
        name: cleanName(name),
        svc_version: toPrintable(version),
        token_hash: hash,
        next_token_hash: null,
        last_seen_at: now,
        revoked_at: null,
      };
      const row = {
        id: makeServerId('w'),
        account_id: machine.account_id,
        key,
        created_at: now,
        command_seq: 0,
        channels: '',
        more_decisions: 0,
        ...facts,
      };
      const workspace = await db.transaction().execute(async (change) => {
        await takeTurn(change);
        const others = await change
          .selectFrom('workspaces')
          .select(({ fn }) => fn.countAll().as('count'))
          .where('account_id', '=', row.account_id)
          .where('revoked_at', 'is', null)
          .where('key', '!=', key)
          .executeTakeFirstOrThrow();
        await plans.requireRoom(change, row.account_id, 'workspaces', Number(others.count));
        await changes.record(change, {
          account: row.account_id,
          actor: person.name,
          what: 'workspace linked',
          detail: `${row.name} on ${machine.name}`,
        });
        return change
          .insertInto('workspaces')
          .values(row)
          .onConflict((same) => same.columns(['account_id', 'key']).doUpdateSet(facts))
          .returningAll()
          .executeTakeFirstOrThrow();
      });
      return { workspace, token };
    },
    findByToken: (token) => findByHash(hashToken(token)),
    async findTeller(token) {
      const hash = hashToken(token);
      if (tokenChanges === null) return findByHash(hash);
      const asOf = tokenChanges.count;
      if (tellersAsOf !== asOf) tellers.clear();
      tellersAsOf = asOf;
      const known = tellers.get(hash);
      if (known !== undefined) {
        sightings.note(known);
        return known;
      }
      const { id, account_id, name, last_seen_at } = await findByHash(hash);
      const found = { id, account_id, name, last_seen_at };
      // A change in the meantime may have affected this.
      if (tokenChanges.count === asOf) tellers.set(hash, found);
      if (tellers.size > MOST_TELLERS) tellers.delete(tellers.keys().next().value ?? '');
      return found;
    },
    async rotateToken(workspace) {
      const { token, hash } = makeToken('svcw_');
      await db
        .updateTable('workspaces')
        .set({ next_token_hash: hash })
        .where('id', '=', workspace.id)
        .execute();
      return token;
    },
    async rename(workspace, name) {
      const next = cleanName(name);
      if (next !== workspace.name)
        await db.updateTable('workspaces').set({ name: next }).where('id', '=', workspace.id).execute();
    },
    async revoke(account, id, actor) {
      const wasLinked = await db.transaction().execute(async (change) => {
        const revoked = await change
          .updateTable('workspaces')
          .set({ revoked_at: clock.now() })
          .where('id', '=', id)
          .where('account_id', '=', account)
          .where('revoked_at', 'is', null)
          .returning('name')
          .executeTakeFirst();
        if (revoked === undefined) return false;
        // Its pending decisions can no longer be decided from here.
        await change.deleteFrom('pending_decisions').where('workspace_id', '=', id).execute();
        await follower.followDecisions(change, id, true);
        await changes.record(change, { account, actor, what: 'workspace unlinked', detail: revoked.name });
        return true;
      });
      if (wasLinked) follower.wake();
      return wasLinked;
    },
    async remove(account, id, actor) {
      const removeRow = async (change: Transaction<Tables>): Promise<boolean> => {
        // Its events, decisions and commands are deleted with the row.
        const removed = await change
          .deleteFrom('workspaces')
          .where('id', '=', id)
          .where('account_id', '=', account)
          .returning('name')
          .executeTakeFirst();
        if (removed === undefined) return false;
        await change.deleteFrom('deliveries').where('workspace_id', '=', id).execute();
        await forgetInTargets(change, account, id);
        await changes.record(change, { account, actor, what: 'workspace removed', detail: removed.name });
        return true;
      };
      const wasThere = await retryDeadlocks(() => db.transaction().execute(removeRow));
      if (wasThere) await eraseDeleted();
      return wasThere;
    },
    close: sightings.close,
  };
}

/** A target for this workspace only becomes one for none, never for all. */
async function forgetInTargets(change: Transaction<Tables>, account: string, id: string): Promise<void> {
  const targets = await change
    .selectFrom('targets')
    .select(['id', 'workspaces'])
    .where('account_id', '=', account)
    .execute();
  for (const target of targets) {
    const chosen = readWorkspaces(target);
    if (chosen?.includes(id))
      await change
        .updateTable('targets')
        .set({ workspaces: JSON.stringify(chosen.filter((each) => each !== id)) })
        .where('id', '=', target.id)
        .execute();
  }
}
