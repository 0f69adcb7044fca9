import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import type { AccountCapability, AddonName } from '../../core/link-protocol/capabilities.ts';
import type { ChangeLog } from '../change-log.ts';
import { TARGET_KINDS, type Tables, type TargetKind, type TargetRow } from '../database/tables.ts';
import { takeTurn } from '../database/take-turn.ts';
import type { AccountPlans } from '../plans/plans.ts';
import type { SecretSealer } from '../sealing.ts';
import { makeServerId } from '../secrets.ts';
import type { AddressGuard } from './address-guard.ts';
import { readWorkspaceWish } from './chosen-workspaces.ts';
import { makeSecret, sealAddress } from './target-secrets.ts';
import {
  createInvalidTargetError,
  entryOf,
  readNameAndEvents,
  readUrl,
  type TargetWish,
} from './target-wish.ts';

/** Maximum number of hosted webhooks of an account. */
const MOST_WEBHOOKS = 20;

/** The capability that such a target requires. */
export const capabilityOf = (kind: TargetKind): AccountCapability =>
  kind === 'webhook' ? 'hosted_webhook' : `catch_url_${kind satisfies AddonName}`;

/** Adds targets to accounts. */
export interface TargetAdder {
  /** Returns the secret, only once. Throws `fields_invalid`, `address_refused`, `conflict`, `capability_locked`. */
  add(
    kind: TargetKind,
    wish: TargetWish,
    account: string,
    actor: string,
  ): Promise<{ target: TargetRow; secret: string }>;
}

export function createTargetAdder({
  db,
  clock,
  changes,
  plans,
  sealer,
  guard,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
  plans: Pick<AccountPlans, 'entitlementsOf'>;
  sealer: SecretSealer;
  guard: Pick<AddressGuard, 'check'>;
}): TargetAdder {
  async function requireCapability(kind: TargetKind, account: string): Promise<void> {
    const { capabilities, plan } = await plans.entitlementsOf(account);
    if (capabilities.includes(capabilityOf(kind))) return;
    throw new SvcError(
      'capability_locked',
      kind === 'webhook' ? `the plan ${plan} has no hosted webhooks` : `the add-on ${kind} is off`,
      { hint: 'the operator of the server enables it' },
    );
  }

  return {
    async add(kind, wish, account, actor) {
      if (!TARGET_KINDS.includes(kind)) throw createInvalidTargetError('kind', 'no such kind of target');
      await requireCapability(kind, account);
      const url = readUrl(wish.url);
      const workspaces = await readWorkspaceWish(db, wish.workspaces, { account });
      const read = { ...readNameAndEvents(wish), workspaces };
      await guard.check(url);
      const id = makeServerId('t');
      const secret = makeSecret();
      const target: TargetRow = {
        id,
        account_id: account,
        kind,
        slot: kind === 'webhook' ? id : kind,
        ...read,
        ...sealAddress(sealer, id, url),
        is_on: 1,
        secret: sealer.seal(secret, `targets.secret.${id}`),
        old_secret: null,
        old_until: null,
        paused_at: null,
        paused_why: null,
        failing_since: null,
        created_at: clock.now(),
      };
      await changes.make(entryOf(target, 'target added', actor), async (change) => {
        await takeTurn(change);
        if (kind === 'webhook') await requireRoom(change, account);
        const { numInsertedOrUpdatedRows } = await change
          .insertInto('targets')
          .values(target)
          .onConflict((same) => same.columns(['account_id', 'slot']).doNothing())
          .executeTakeFirst();
        if (Number(numInsertedOrUpdatedRows) === 0)
          throw new SvcError('conflict', `the account already has a catch URL of ${kind}`, {
            hint: 'change the existing one',
          });
      });
      return { target, secret };
    },
  };
}

/** Throws `conflict` if an account has the maximum number of hosted webhooks. */
async function requireRoom(change: Transaction<Tables>, account: string): Promise<void> {
  const { count } = await change
    .selectFrom('targets')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('account_id', '=', account)
    .where('kind', '=', 'webhook')
    .executeTakeFirstOrThrow();
  if (Number(count) >= MOST_WEBHOOKS)
    throw new SvcError('conflict', `an account has at most ${MOST_WEBHOOKS} hosted webhooks`);
}
